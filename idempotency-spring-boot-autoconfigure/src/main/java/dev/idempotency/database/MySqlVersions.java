package dev.idempotency.database;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How MySQL and MariaDB move a version on: {@code on duplicate key update}, which locks the row as a writer at once. An
 * {@code insert ignore} would lock it as a reader first, and two of them would deadlock; an update that finds no row would
 * lock the gap, which others insert into.
 *
 * <p>The row is asked whose it is then. The row count does not tell: for a row that was left as it is, it is that of a new
 * one, unless the driver is told otherwise; and a row that was to be left as it is counts as changed if its time is in the
 * hour that clocks repeat, which the database takes for the other one of that name.
 */
final class MySqlVersions implements SingleRowVersions.Move {

    /** The version comes last: what stands before it is to be compared with the one that the row had. */
    private static final String CLAIM = """
            insert into %1$s (consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset,
                claim_token)
            values (?, ?, ?, ?, ?, ?, ?, ?)
            on duplicate key update
                previous_version = if(%2$s, version, previous_version),
                previous_at = if(%2$s, processed_at, previous_at),
                previous_topic = if(%2$s, record_topic, previous_topic),
                previous_partition = if(%2$s, record_partition, previous_partition),
                previous_offset = if(%2$s, record_offset, previous_offset),
                processed_at = if(%2$s, current_timestamp(6), processed_at),
                record_topic = if(%2$s, values(record_topic), record_topic),
                record_partition = if(%2$s, values(record_partition), record_partition),
                record_offset = if(%2$s, values(record_offset), record_offset),
                claim_token = if(%2$s, values(claim_token), claim_token),
                version = if(%2$s, values(version), version)
            """;

    private static final String NEWER = "version < values(version) and version_kind = values(version_kind)";

    /** For update: it must be the row as it is, not as it was when the transaction first looked. */
    private static final String CLAIMED =
            "select claim_token from %s where consumer_id = ? and message_id = ? for update";

    private final String claim;
    private final String claimed;

    MySqlVersions(String table) {
        this.claim = CLAIM.formatted(table, NEWER);
        this.claimed = CLAIMED.formatted(table);
    }

    @Override
    public boolean execute(SingleRowVersions.Statements statements, VersionClaim wanted) throws SQLException {
        PreparedStatement statement = statements.prepare(this.claim);
        SingleRowVersions.bindEntity(statement, 1, wanted.entity());
        SingleRowVersions.bindVersion(statement, 3, wanted);
        statement.setLong(8, statements.token());
        statement.executeUpdate();
        return isClaimed(statements, wanted);
    }

    private boolean isClaimed(SingleRowVersions.Statements statements, VersionClaim wanted) throws SQLException {
        PreparedStatement query = statements.prepare(this.claimed);
        SingleRowVersions.bindEntity(query, 1, wanted.entity());
        try (ResultSet row = query.executeQuery()) {
            return row.next() && row.getLong(1) == statements.token();
        }
    }
}
