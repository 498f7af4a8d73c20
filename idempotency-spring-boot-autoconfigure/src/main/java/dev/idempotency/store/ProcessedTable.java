package dev.idempotency.store;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The table of processed messages, in the connection's own schema or in a named one.
 *
 * @param schema the schema's name, or {@code null} for the one that connections of the store begin in
 */
public record ProcessedTable(@Nullable String schema) {

    static final String NAME = "idempotency_processed";

    private static final Pattern SAFE_IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public ProcessedTable {
        if (schema != null && !SAFE_IDENTIFIER.matcher(schema).matches()) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "idempotency.schema.name must be a plain identifier (letters, digits and underscores, at most 63, "
                            + "not beginning with a digit), but is '%s'",
                    schema));
        }
    }

    /** The name to use in SQL, with the schema between the given quotes. */
    String quotedWith(String quote) {
        return (this.schema != null) ? quote + this.schema + quote + "." + NAME : NAME;
    }

    /** The schema's name as a text in SQL, or the expression for the one that connections begin in. */
    String schemaOr(String current) {
        return (this.schema != null) ? "'" + this.schema + "'" : current;
    }
}
