package dev.idempotency.database;

import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.StringUtils;

/**
 * A unique key of MySQL or MariaDB: an error ends with the key's name, in quotes, MySQL's with the table before it. What was
 * written stands before that, and may look like anything.
 *
 * <p>MariaDB does not tell the table, and all primary keys have the same name. So a name that is not the only one of its kind
 * counts only where the key that was refused is found in the table that is meant.
 *
 * @param found where it stands
 * @param shared whether other tables have a key with this name
 * @param look the query for a key, with a parameter for each of its columns; {@code null} if errors do not tell it exactly
 *     enough
 */
record MySqlUniqueConstraint(
        FoundConstraint found, boolean shared, @Nullable String look) implements UniqueConstraint {

    private static final int DUPLICATE_ENTRY = 1062;
    private static final int DUPLICATE_ENTRY_WITH_KEY_NAME = 1586;

    /** Longer ones are cut off. */
    private static final int MAX_ENTRY_LENGTH = 60;

    /** With what the driver may be told to append nothing can be relied upon, as it holds what was written. */
    private static final String APPENDED = "\nQuery is: ";

    private static final String LIST = """
            select table_schema, table_name, index_name, null, table_schema = database(),
                case when max(non_unique) = 0 then null else 'is an index that is not unique' end
            from information_schema.statistics
            where table_schema not in ('mysql', 'sys', 'performance_schema', 'information_schema')
            group by table_schema, table_name, index_name
            union all
            select table_schema, table_name, constraint_name, null, table_schema = database(),
                case constraint_type when 'CHECK' then 'is a check constraint' else 'is a foreign key' end
            from information_schema.table_constraints
            where constraint_type not in ('PRIMARY KEY', 'UNIQUE')
                and table_schema not in ('mysql', 'sys', 'performance_schema', 'information_schema')
            order by 1, 2, 3
            """;

    /** What stands between the values of several columns, and may be part of them. */
    private static final String SEPARATOR = "-";

    private static final String EQUALS = "` = ?";

    /** Columns whose values errors show as they can be compared with. */
    private static final String COLUMNS = """
            select c.column_name
            from information_schema.statistics s
            left join information_schema.columns c
                on c.table_schema = s.table_schema and c.table_name = s.table_name and c.column_name = s.column_name
                    and s.sub_part is null
                    and c.data_type in ('tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'char', 'varchar', 'uuid')
            where s.table_schema = ? and s.table_name = ? and s.index_name = ?
            order by s.seq_in_index
            """;

    static MySqlUniqueConstraint find(ConstraintName name, JdbcTemplate jdbc, boolean tellsTable) {
        List<FoundConstraint> all = FoundConstraint.list(LIST, jdbc);
        FoundConstraint found = FoundConstraint.choose(name, all);
        boolean shared = all.stream()
                        .filter(each -> each.fault() == null && each.name().equalsIgnoreCase(found.name()))
                        .count()
                > 1;
        List<@Nullable String> columns =
                jdbc.queryForList(COLUMNS, String.class, found.schema(), found.table(), found.name());
        boolean comparable = !columns.contains(null);
        if (shared && !tellsTable && !(comparable && columns.size() == 1)) {
            throw new IllegalArgumentException(
                    ("Errors of MariaDB do not name the table, several tables have a key '%s', and that of %s.%s is not one"
                                    + " column of whole numbers, UUIDs or text, by which the row could be looked up. Give the"
                                    + " table a unique key with a name of its own, in place of this one")
                            .formatted(found.name(), found.schema(), found.table()));
        }
        return new MySqlUniqueConstraint(found, shared, comparable ? look(found, columns) : null);
    }

    private static String look(FoundConstraint found, List<@Nullable String> columns) {
        String keys = columns.stream()
                .map(column -> "`" + escaped(String.valueOf(column)) + EQUALS)
                .collect(Collectors.joining(" and "));
        return "select 1 from `%s`.`%s` where %s limit 1"
                .formatted(escaped(found.schema()), escaped(found.table()), keys);
    }

    private static String escaped(String identifier) {
        return identifier.replace("`", "``");
    }

    @Override
    public boolean isViolatedIn(SQLException error, JdbcTemplate jdbc) {
        String text = untilLastQuote(error);
        if (text == null) {
            return false;
        }
        if (text.endsWith("'" + this.found.table() + "." + this.found.name())) {
            return true;
        }
        return text.endsWith("'" + this.found.name()) && (!this.shared || Boolean.TRUE.equals(isTaken(error, jdbc)));
    }

    private static @Nullable String untilLastQuote(SQLException error) {
        int code = error.getErrorCode();
        String message = error.getMessage();
        return (message != null
                        && (code == DUPLICATE_ENTRY || code == DUPLICATE_ENTRY_WITH_KEY_NAME)
                        && message.contains("'")
                        && !message.contains(APPENDED))
                ? message.substring(0, message.lastIndexOf('\''))
                : null;
    }

    @Override
    public @Nullable Boolean isTaken(SQLException violation, JdbcTemplate jdbc) {
        String text = untilLastQuote(violation);
        if (text == null || this.look == null) {
            return null;
        }
        int begin = text.indexOf('\'') + 1;
        int end = text.lastIndexOf('\'', text.lastIndexOf('\'') - 1);
        String entry = (end >= begin) ? text.substring(begin, end) : null;
        String[] key = (entry != null && isAsWritten(entry)) ? keyIn(entry, this.look) : null;
        return (key != null)
                ? !jdbc.queryForList(this.look, Integer.class, (Object[]) key).isEmpty()
                : null;
    }

    /** The values of the key; {@code null} if they cannot be told apart. */
    private static String @Nullable [] keyIn(String entry, String look) {
        int columns = StringUtils.countOccurrencesOf(look, EQUALS);
        String[] key = (columns == 1) ? new String[] {entry} : entry.split(SEPARATOR, -1);
        return (key.length == columns) ? key : null;
    }

    /** Neither cut off nor with characters in place of others. */
    private static boolean isAsWritten(String entry) {
        return entry.length() <= MAX_ENTRY_LENGTH && entry.indexOf('\\') < 0 && entry.indexOf('?') < 0;
    }
}
