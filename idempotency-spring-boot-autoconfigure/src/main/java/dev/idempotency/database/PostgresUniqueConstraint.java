package dev.idempotency.database;

import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A unique constraint or index of PostgreSQL: the server names the one that was violated, with table and schema, and tells
 * the key that is there already.
 *
 * @param found where it stands
 * @param partitioned whether its table has partitions, each of which has an index with a name of its own
 * @param columns the columns of its key, or the expressions in their place
 * @param look the query for a key, with a parameter for each of these
 */
record PostgresUniqueConstraint(FoundConstraint found, boolean partitioned, List<String> columns, String look)
        implements UniqueConstraint {

    private static final String LIST = """
            select n.nspname, t.relname, i.relname, null, pg_table_is_visible(t.oid),
                case
                    when x.indisexclusion then 'is an exclusion constraint, and what overlaps is not the same'
                    when not x.indisunique then 'is an index that is not unique'
                    when not x.indisvalid then 'is an index that is not valid: it is being built, or that has failed'
                end
            from pg_index x
            join pg_class i on i.oid = x.indexrelid
            join pg_class t on t.oid = x.indrelid
            join pg_namespace n on n.oid = t.relnamespace
            where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
            union all
            select n.nspname, t.relname, c.conname, null, pg_table_is_visible(t.oid),
                case c.contype
                    when 'c' then 'is a check constraint'
                    when 'f' then 'is a foreign key'
                    else 'is no unique constraint'
                end
            from pg_constraint c
            join pg_class t on t.oid = c.conrelid
            join pg_namespace n on n.oid = t.relnamespace
            where c.contype not in ('p', 'u', 'x') and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
            order by 1, 2, 3
            """;

    private static final String DESCRIBE = """
            select i.relkind = 'I', pg_get_indexdef(i.oid, a.attnum, true), format_type(a.atttypid, a.atttypmod),
                format('%I.%I', n.nspname, t.relname), pg_get_expr(x.indpred, x.indrelid)
            from pg_index x
            join pg_class i on i.oid = x.indexrelid
            join pg_class t on t.oid = x.indrelid
            join pg_namespace n on n.oid = t.relnamespace
            join pg_attribute a on a.attrelid = i.oid and a.attnum between 1 and x.indnkeyatts
            where n.nspname = ? and t.relname = ? and i.relname = ?
            order by a.attnum
            """;

    private static final String IS_OF_PARTITION = """
            with recursive part (oid) as (
                select to_regclass(format('%I.%I', cast(? as text), cast(? as text)))::oid
                union all
                select inherited.inhrelid
                from pg_inherits inherited
                join part on part.oid = inherited.inhparent
            )
            select count(*)
            from part
            join pg_class i on i.oid = part.oid
            join pg_namespace n on n.oid = i.relnamespace
            where n.nspname = ? and i.relname = ?
            """;

    static PostgresUniqueConstraint find(ConstraintName name, JdbcTemplate jdbc) {
        FoundConstraint found = FoundConstraint.choose(name, FoundConstraint.list(LIST, jdbc));
        List<Column> columns = jdbc.query(
                DESCRIBE,
                (row, number) -> new Column(
                        row.getBoolean(1), row.getString(2), row.getString(3), row.getString(4), row.getString(5)),
                found.schema(),
                found.table(),
                found.name());
        Column first = columns.get(0);
        String keys = columns.stream()
                .map(column -> column.expression + " = cast(? as " + column.type + ")")
                .collect(Collectors.joining(" and "));
        String look = "select 1 from " + first.qualifiedTable + " where " + keys
                + ((first.predicate != null) ? " and (" + first.predicate + ")" : "") + " limit 1";
        List<String> expressions = columns.stream().map(Column::expression).toList();
        return new PostgresUniqueConstraint(found, first.partitioned, expressions, look);
    }

    private record Column(
            boolean partitioned,
            String expression,
            String type,
            String qualifiedTable,
            @Nullable String predicate) {}

    @Override
    public boolean isViolatedIn(SQLException error, JdbcTemplate jdbc) {
        PostgresViolation violation = PostgresViolation.in(error);
        if (violation == null) {
            return false;
        }
        boolean same = violation.constraint().equals(this.found.name())
                && isAsFound(violation.schema(), this.found.schema())
                && isAsFound(violation.table(), this.found.table());
        return same || (this.partitioned && violation.schema() != null && isOfPartition(violation, jdbc));
    }

    private static boolean isAsFound(@Nullable String told, String found) {
        return told == null || told.equals(found);
    }

    /** Partitions may have come since start-up, so that the database is asked. */
    private boolean isOfPartition(PostgresViolation violation, JdbcTemplate jdbc) {
        Integer count = jdbc.queryForObject(
                IS_OF_PARTITION,
                Integer.class,
                this.found.schema(),
                this.found.name(),
                violation.schema(),
                violation.constraint());
        return count != null && count > 0;
    }

    @Override
    public @Nullable Boolean isTaken(SQLException violation, JdbcTemplate jdbc) {
        String[] key = keyIn(violation);
        return (key != null)
                ? !jdbc.queryForList(this.look, Integer.class, (Object[]) key).isEmpty()
                : null;
    }

    /**
     * The values of the key, of which the server writes {@code (a, b)=(1, 2)}, within a sentence in its language; {@code
     * null} if they cannot be told apart, or one of them may be no value.
     */
    private String @Nullable [] keyIn(SQLException error) {
        PostgresViolation violation = PostgresViolation.in(error);
        if (violation == null || violation.detail() == null) {
            return null;
        }
        String before = "(" + String.join(", ", this.columns) + ")=(";
        int begin = violation.detail().indexOf(before);
        int end = violation.detail().lastIndexOf(')');
        if (begin < 0 || end < begin + before.length()) {
            return null;
        }
        String values = violation.detail().substring(begin + before.length(), end);
        String[] key = (this.columns.size() == 1) ? new String[] {values} : values.split(", ", -1);
        return (key.length == this.columns.size() && !Arrays.asList(key).contains("null")) ? key : null;
    }
}
