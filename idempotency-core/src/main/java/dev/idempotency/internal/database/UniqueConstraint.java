package dev.idempotency.internal.database;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A unique constraint or unique index of an application's table on PostgreSQL, whose errors name the violated one and the key
 * in separate fields.
 *
 * @param name its name, unique within the schema
 * @param keyPrefix precedes the values of the key in the detail of an error, such as {@code (a, b)=(}
 * @param query selects the row with a key, with a parameter for each column
 */
public record UniqueConstraint(String schema, String table, String name, int columns, String keyPrefix, String query) {

    private static final String UNIQUE_VIOLATION = "23505";

    private static final String FIND = """
            select n.nspname, t.relname, i.relname, k.columns, k.prefix,
                format('select 1 from %I.%I where ', n.nspname, t.relname) || k.condition
                    || coalesce(' and (' || pg_get_expr(x.indpred, x.indrelid) || ')', '') || ' limit 1',
                k.generated, case when to_jsonb(x) ->> 'indnullsnotdistinct' = 'true' then null else k.nullable end,
                i.relkind = 'I'
            from pg_index x
            join pg_class i on i.oid = x.indexrelid
            join pg_class t on t.oid = x.indrelid
            join pg_namespace n on n.oid = t.relnamespace
            cross join lateral (
                select count(*), '(' || string_agg(c.expression, ', ' order by a.attnum) || ')=(',
                    string_agg(
                        c.expression || ' = cast(? as ' || format_type(a.atttypid, a.atttypmod) || ')',
                        ' and ' order by a.attnum),
                    min(o.attname::text) filter (where o.attidentity <> ''
                        or pg_get_expr(d.adbin, d.adrelid) ~ '(nextval|random|uuid\\w*)\\('),
                    min(o.attname::text) filter (where not o.attnotnull)
                from pg_attribute a
                cross join lateral (select pg_get_indexdef(i.oid, a.attnum, true)) c (expression)
                left join pg_attribute o on o.attrelid = x.indrelid and o.attnum = x.indkey[a.attnum - 1]
                left join pg_attrdef d on d.adrelid = o.attrelid and d.adnum = o.attnum
                where a.attrelid = i.oid and a.attnum between 1 and x.indnkeyatts
            ) k (columns, prefix, condition, generated, nullable)
            where x.indisunique and x.indisvalid and not x.indisexclusion
                and lower(cast(? as text)) in (
                    case when pg_table_is_visible(i.oid) then lower(i.relname) end, lower(n.nspname || '.' || i.relname))
            order by cast(? as text) in (i.relname::text, n.nspname || '.' || i.relname) desc
            limit 1
            """;

    private static final String SIMILAR = """
            select i.relname
            from pg_index x
            join pg_class i on i.oid = x.indexrelid
            where x.indisunique and pg_table_is_visible(i.oid) and i.relnamespace <> 'pg_catalog'::regnamespace
            order by left(i.relname, 5) = left(cast(? as text), 5) desc, i.relname
            limit 5
            """;

    /**
     * Finds a constraint or index by its name, or by schema and name; upper and lower case matter only where names differ in
     * nothing else.
     *
     * @throws IllegalArgumentException if there is none, or it can never be violated
     */
    public static UniqueConstraint find(String name, JdbcTemplate jdbc) {
        return jdbc.query(FIND, (row, number) -> of(row), name, name).stream()
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "There is no unique constraint or index %s that is valid; there are, for instance, %s"
                                .formatted(name, jdbc.queryForList(SIMILAR, String.class, name))));
    }

    private static UniqueConstraint of(ResultSet row) throws SQLException {
        if (row.getBoolean(9)) {
            throw new IllegalArgumentException(
                    "It is of a partitioned table, whose partitions have their own constraints");
        }
        requireNone(row.getString(7), "is generated, so that each delivery gets another key");
        requireNone(row.getString(8), "may be null, and nulls are distinct");
        return new UniqueConstraint(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getInt(4),
                row.getString(5),
                row.getString(6));
    }

    private static void requireNone(@Nullable String column, String why) {
        if (column != null) {
            throw new IllegalArgumentException("Its column '%s' %s".formatted(column, why));
        }
    }

    /** Returns whether an error reports a violation of this constraint. */
    public boolean isViolatedIn(SQLException error) {
        ServerErrorMessage message = messageOf(error);
        return message != null && this.name.equals(message.getConstraint()) && this.schema.equals(message.getSchema());
    }

    /**
     * Returns whether a row with the key of a violation is committed. If not, the transaction that was rolled back had
     * inserted it itself.
     *
     * @return {@code null} if the error does not tell the key, or not unambiguously
     */
    public @Nullable Boolean isTaken(SQLException violation, JdbcTemplate jdbc) {
        ServerErrorMessage message = messageOf(violation);
        String detail = (message != null) ? message.getDetail() : null;
        int begin = (detail != null) ? detail.indexOf(this.keyPrefix) : -1;
        if (detail == null || begin < 0) {
            return null;
        }
        String values = detail.substring(begin + this.keyPrefix.length(), detail.lastIndexOf(')'));
        String[] key = (this.columns == 1) ? new String[] {values} : values.split(", ", -1);
        return (key.length == this.columns && !Arrays.asList(key).contains("null"))
                ? !jdbc.queryForList(this.query, Integer.class, (Object[]) key).isEmpty()
                : null;
    }

    private static @Nullable ServerErrorMessage messageOf(SQLException error) {
        return (error instanceof PSQLException ours && UNIQUE_VIOLATION.equals(error.getSQLState()))
                ? ours.getServerErrorMessage()
                : null;
    }
}
