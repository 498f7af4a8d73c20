package dev.idempotency.database;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The library's tables, in the connection's own schema or in a named one.
 *
 * @param schema the schema's name, or {@code null} for the one that connections of the store begin in
 */
public record Tables(@Nullable String schema) {

    static final String PROCESSED = "idempotency_processed";
    static final String INBOX = "idempotency_inbox";

    private static final Pattern SAFE_IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public Tables {
        if (schema != null && !SAFE_IDENTIFIER.matcher(schema).matches()) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "idempotency.schema.name must be a plain identifier (letters, digits and underscores, at most 63, "
                            + "not beginning with a digit), but is '%s'",
                    schema));
        }
    }

    /** The table of processed messages, as it is named in SQL. */
    public String processed(Dialect dialect) {
        return qualified(PROCESSED, dialect);
    }

    /** The table of messages that are kept, as it is named in SQL. */
    public String inbox(Dialect dialect) {
        return qualified(INBOX, dialect);
    }

    String qualified(String table, Dialect dialect) {
        String quote = dialect.identifierQuote();
        return (this.schema != null) ? quote + this.schema + quote + "." + table : table;
    }

    /** The schema's name as a text in SQL, or the expression for the one that connections begin in. */
    String schemaOr(String current) {
        return (this.schema != null) ? "'" + this.schema + "'" : current;
    }
}
