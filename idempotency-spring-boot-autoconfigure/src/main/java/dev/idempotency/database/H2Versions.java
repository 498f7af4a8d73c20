package dev.idempotency.database;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * How H2 moves a version on: the row is locked, and updated if it is older; one that is not there is inserted, which leaves
 * the transaction as it was if somebody else was faster.
 */
final class H2Versions implements SingleRowVersions.Move {

    /** An update would wait as well, but for as long as the session's time for locks, whatever that of the statement. */
    private static final String LOCK =
            "select message_id from %s where consumer_id = ? and message_id = ? for update wait ";

    private static final String UPDATE = """
            update %s
            set previous_version = version, previous_at = processed_at, previous_topic = record_topic,
                previous_partition = record_partition, previous_offset = record_offset,
                version = ?, record_topic = ?, record_partition = ?, record_offset = ?, processed_at = current_timestamp
            where consumer_id = ? and message_id = ? and version_kind = ? and version < ?
            """;

    private static final String INSERT = """
            insert into %s (consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset)
            values (?, ?, ?, ?, ?, ?, ?)
            """;

    private static final int LOOKS = 5;

    private final PreparedStatementCallback<Boolean> insertion;
    private final String lock;
    private final String update;
    private final String insert;

    /** {@code insertion} executes an insert, and says whether a row was inserted, rather than being there already. */
    H2Versions(String table, PreparedStatementCallback<Boolean> insertion) {
        this.insertion = insertion;
        this.lock = LOCK.formatted(table);
        this.update = UPDATE.formatted(table);
        this.insert = INSERT.formatted(table);
    }

    /** What was inserted by somebody else meanwhile is locked before the next entity is, or the order would be lost. */
    @Override
    public boolean execute(SingleRowVersions.Statements statements, VersionClaim claim) throws SQLException {
        for (int look = 0; look < LOOKS; look++) {
            if (lock(statements, claim)) {
                return update(statements, claim);
            }
            if (insert(statements, claim)) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is a row, which nobody else can change from now on. */
    private boolean lock(SingleRowVersions.Statements statements, VersionClaim claim) throws SQLException {
        PreparedStatement statement = statements.prepare(this.lock + statements.secondsLeft());
        SingleRowVersions.bindEntity(statement, 1, claim.entity());
        try (ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }

    private boolean update(SingleRowVersions.Statements statements, VersionClaim claim) throws SQLException {
        PreparedStatement statement = statements.prepare(this.update);
        statement.setBigDecimal(1, claim.version().value());
        statement.setString(2, claim.coordinates().topic());
        statement.setInt(3, claim.coordinates().partition());
        statement.setLong(4, claim.coordinates().offset());
        SingleRowVersions.bindEntity(statement, 5, claim.entity());
        statement.setString(7, SingleRowVersions.nameOf(claim));
        statement.setBigDecimal(8, claim.version().value());
        return statement.executeUpdate() == 1;
    }

    private boolean insert(SingleRowVersions.Statements statements, VersionClaim claim) throws SQLException {
        PreparedStatement statement = statements.prepare(this.insert);
        SingleRowVersions.bindEntity(statement, 1, claim.entity());
        SingleRowVersions.bindVersion(statement, 3, claim);
        return Boolean.TRUE.equals(this.insertion.doInPreparedStatement(statement));
    }
}
