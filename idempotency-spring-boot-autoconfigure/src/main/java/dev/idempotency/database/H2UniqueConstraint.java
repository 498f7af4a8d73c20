package dev.idempotency.database;

import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A unique constraint or index of H2: its errors begin, after a sentence in the language of the JVM, with constraint or
 * index and the table, in quotes, and tell which row is there already. What was written comes after that.
 *
 * @param found where it stands
 */
record H2UniqueConstraint(FoundConstraint found) implements UniqueConstraint {

    private static final int DUPLICATE_KEY = 23505;

    /** In upper case, as the database has these names, unless it is told to have all of them in lower case. */
    private static final String LIST = """
            select TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, INDEX_NAME, TABLE_SCHEMA = current_schema,
                case
                    when CONSTRAINT_TYPE in ('PRIMARY KEY', 'UNIQUE') then null
                    when CONSTRAINT_TYPE = 'CHECK' then 'is a check constraint'
                    else 'is a foreign key'
                end
            from INFORMATION_SCHEMA.TABLE_CONSTRAINTS
            union all
            select TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, INDEX_NAME, TABLE_SCHEMA = current_schema,
                case when INDEX_TYPE_NAME = 'UNIQUE INDEX' then null else 'is an index that is not unique' end
            from INFORMATION_SCHEMA.INDEXES
            where IS_GENERATED = false
            order by 1, 2, 3
            """;

    private static final String IDENTIFIER = "(\"(?:[^\"]|\"\")+\"|[^\\s.\"(]+)";

    /** Older versions name the index alone or, of a primary key, nothing. */
    private static final Pattern VIOLATED = Pattern.compile(
            "(?:%1$s\\.%1$s )?(?:PRIMARY KEY )?(?:INDEX %1$s\\.%1$s )?ON %1$s\\.%1$s\\(".formatted(IDENTIFIER));

    private static final Pattern ROW = Pattern.compile("\\) (?:VALUES )?\\( /\\* (?:key:)?(-?\\d+) \\*/ ");

    static H2UniqueConstraint find(ConstraintName name, JdbcTemplate jdbc) {
        return new H2UniqueConstraint(FoundConstraint.choose(name, FoundConstraint.list(LIST, jdbc)));
    }

    @Override
    public boolean isViolatedIn(SQLException error, JdbcTemplate jdbc) {
        Matcher violated = violatedIn(error);
        if (violated == null
                || !this.found.schema().equals(plain(violated.group(5)))
                || !this.found.table().equals(plain(violated.group(6)))) {
            return false;
        }
        String told = plain(violated.group(2));
        return (told != null)
                ? told.equals(this.found.name()) || told.equals(this.found.index())
                : violated.group().startsWith("PRIMARY KEY ") && isPrimaryKey();
    }

    private boolean isPrimaryKey() {
        return this.found.index() != null
                && this.found.index().toUpperCase(Locale.ROOT).startsWith("PRIMARY_KEY");
    }

    @Override
    public @Nullable Boolean isTaken(SQLException violation, JdbcTemplate jdbc) {
        Matcher violated = violatedIn(violation);
        if (violated == null) {
            return null;
        }
        Matcher row = ROW.matcher(quotedIn(violation));
        return row.find(violated.end())
                ? !jdbc.queryForList(
                                "select 1 from \"%s\".\"%s\" where _rowid_ = ?"
                                        .formatted(quoted(this.found.schema()), quoted(this.found.table())),
                                Integer.class,
                                Long.valueOf(row.group(1)))
                        .isEmpty()
                : null;
    }

    private static @Nullable Matcher violatedIn(SQLException error) {
        if (error.getErrorCode() != DUPLICATE_KEY) {
            return null;
        }
        Matcher matcher = VIOLATED.matcher(quotedIn(error));
        return matcher.lookingAt() ? matcher : null;
    }

    /** What follows the first quote, with the quotes within it as they are. */
    private static String quotedIn(SQLException error) {
        String message = String.valueOf(error.getMessage());
        return message.substring(message.indexOf('"') + 1).replace("\"\"", "\"");
    }

    private static @Nullable String plain(@Nullable String identifier) {
        return (identifier != null && identifier.startsWith("\""))
                ? identifier.substring(1, identifier.length() - 1).replace("\"\"", "\"")
                : identifier;
    }

    private static String quoted(String identifier) {
        return identifier.replace("\"", "\"\"");
    }
}
