package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;

/**
 * PostgreSQL: advisory locks, one statement whatever their number.
 *
 * <p>A key locks its hash, and shares the lock of its stripe. Many keys lock their stripes alone, as the server has room for a
 * limited number of locks; so they exclude single keys, too. Everyone locks stripes before hashes, and each in order.
 */
final class PostgresLocks implements LockStatement {

    /** Keys that are locked one by one. */
    private static final int MAX_KEYS = 64;

    /** The first of the two numbers of a stripe's lock; the hash of a key is one number, and so apart from them. */
    private static final int NAMESPACE = 0x49444D50;

    /** What is sorted in a subquery is locked in that order. */
    private static final String LOCK = """
            select case kind
                    when 'shared' then pg_advisory_xact_lock_shared(%1$d, cast(id as integer))
                    when 'stripe' then pg_advisory_xact_lock(%1$d, cast(id as integer))
                    else pg_advisory_xact_lock(id)
                end
            from (
                select kind, id
                from unnest(cast(? as varchar[]), cast(? as bigint[])) with ordinality as wanted (kind, id, position)
                order by position
            ) as ordered
            """.formatted(NAMESPACE);

    @Override
    public void execute(Connection connection, List<Long> keys, int timeoutSeconds) throws SQLException {
        boolean striped = keys.size() > MAX_KEYS;
        SortedSet<Integer> stripes = LockStatement.stripesOf(keys);
        List<String> kinds = new ArrayList<>(Collections.nCopies(stripes.size(), striped ? "stripe" : "shared"));
        List<Long> ids =
                new ArrayList<>(stripes.stream().map(Integer::longValue).toList());
        if (!striped) {
            kinds.addAll(Collections.nCopies(keys.size(), "key"));
            ids.addAll(keys);
        }
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setArray(1, connection.createArrayOf("varchar", kinds.toArray()));
            statement.setArray(2, connection.createArrayOf("int8", ids.toArray()));
            statement.execute();
        }
    }
}
