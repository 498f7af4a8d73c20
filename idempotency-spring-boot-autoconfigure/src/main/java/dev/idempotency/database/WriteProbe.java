package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Tries what the library does with its tables, for a message that there is not, in a transaction of its own that is
 * rolled back. That tells more than tables that can be read: whether the user may write them, and the server lets him.
 */
public final class WriteProbe {

    /** Nobody who asks is to wait for longer, be it for a table that somebody has locked. */
    static final int TIMEOUT_SECONDS = 3;

    private static final String CONSUMER = "idempotency/trial";
    private static final RecordCoordinates NOWHERE = new RecordCoordinates("none", 0, 0);

    /** The longest end of an id that begins with a UUID, but for one character. */
    private static final String LONG = "x".repeat(MessageId.MAX_VALUE_LENGTH - 37);

    /**
     * What ids end with that some tables take for one: in another case, with what is padded or not seen, or with what does not
     * fit in.
     */
    private static final List<String> ALMOST_EQUAL = List.of("A", "a", "a\u0001", "a ", LONG + "1", LONG + "2");

    private static final String FIND = "select message_id from %s where consumer_id = ? and message_id = ?";

    private static final String KEEP = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset, record_headers,
                status, attempts)
            values (?, ?, 'none', 0, 0, '', 'processed', 1)
            """;

    private static final String COMPLETE =
            "update %s set status = 'processed' where consumer_id = ? and message_id = ?";

    private static final String LOCK = "select message_id from %s where consumer_id = ? and message_id = ? for update";
    private static final String KEEP_RESULT =
            "insert into %s (consumer_id, message_id, result_type, result) values (?, ?, 'none', 'null')";

    private static final String REPLACE_RESULT =
            "update %s set result = 'null' where consumer_id = ? and message_id = ?";

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id = ?";

    private static final String LOCK_POSITION =
            "select next_offset from %s where consumer_id = ? and record_topic = ? for update";

    private static final String DELETE_POSITION = "delete from %s where consumer_id = ? and record_topic = ?";

    private static final String PERMISSION_DENIED = "42501";

    /** MySQL and MariaDB: of a database, a table, a column, by a missing privilege; H2. */
    private static final Set<Integer> PERMISSION_DENIED_CODES = Set.of(1044, 1142, 1143, 1227, 90096);

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final ClaimStatement claim;
    private final PositionStatement position;
    private final Dialect dialect;
    private final String processed;
    private final String positions;
    private final String inbox;
    private final String results;
    private final String versions;
    private final @Nullable VersionStatement moves;

    public WriteProbe(IdempotencyDatabase database) {
        this.dialect = database.dialect();
        this.processed = database.processedTable();
        this.positions = database.positionTable();
        this.inbox = database.inboxTable();
        this.results = database.resultTable();
        this.versions = database.versionTable();
        this.moves = database.dialect().versionsIn(this.versions);
        this.claim = database.dialect().claimIn(this.processed);
        this.position = database.dialect().positionsIn(this.positions);
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        // As listeners' transactions: a server may refuse to write in another isolation than its own.
        this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_DEFAULT);
        this.transaction.setTimeout(TIMEOUT_SECONDS);
    }

    /** Claims a message, looks it up and, where a row stands witness of each transaction, removes it; fails as that does. */
    public void tryClaims() {
        inTransaction(id -> {});
    }

    /**
     * Claims messages whose ids are almost equal, and one of them again.
     *
     * @throws IllegalStateException if the table takes one for another, or lets one be claimed twice
     */
    void requireExactIds() {
        String begin = UUID.randomUUID().toString();
        List<Claim> claims = ALMOST_EQUAL.stream()
                .map(end -> new Claim(new MessageId(CONSUMER, begin + end), NOWHERE))
                .toList();
        this.transaction.executeWithoutResult(status -> {
            status.setRollbackOnly();
            execute(connection -> {
                Set<MessageId> claimed = this.claim.execute(connection, claims, TIMEOUT_SECONDS);
                Set<MessageId> again = this.claim.execute(connection, claims.subList(0, 1), TIMEOUT_SECONDS);
                if (claimed.size() < claims.size()) {
                    throw inexact(
                            "takes ids of messages for equal that are not, as they differ in case, at their end or in a"
                                    + " control character: of two such messages one would be dropped as a duplicate");
                }
                if (!again.isEmpty()) {
                    throw inexact("lets a message be claimed twice, which would be processed twice");
                }
                return null;
            });
        });
    }

    private IllegalStateException inexact(String what) {
        return new IllegalStateException(
                ("The table %s %s. Let its primary key, consumer_id and message_id, be as the script has it that makes the"
                                + " table: on MariaDB and MySQL with its lengths and collations, on H2 neither IGNORECASE nor"
                                + " COLLATION may have been set before.")
                        .formatted(this.processed, what));
    }

    /** What {@link #tryClaims} does, and what else the tables are used for. */
    void tryAll(Set<TableUse> all) {
        Set<TableUse> uses = new TreeSet<>(all);
        inTransaction(id -> {
            uses.forEach(use -> tryOut(use, id));
            if (uses.contains(TableUse.CLEANUP)) {
                uses.forEach(use -> tryCleanup(use, id));
            }
        });
    }

    private void tryOut(TableUse use, MessageId id) {
        switch (use) {
            case CLEANUP -> {}
            case INBOX -> {
                update(KEEP, this.inbox, id);
                update(COMPLETE, this.inbox, id);
                query(LOCK, this.inbox, id);
            }
            case RESULTS -> {
                update(KEEP_RESULT, this.results, id);
                update(REPLACE_RESULT, this.results, id);
            }
            case POSITIONS -> {
                moveTo(id, 0);
                moveTo(id, 1);
            }
            case VERSIONS -> {
                move(id, 1);
                move(id, 2);
                query(FIND, this.versions, id);
            }
        }
    }

    /** What the cleanup does where the tables are used so. */
    private void tryCleanup(TableUse use, MessageId id) {
        switch (use) {
            case CLEANUP -> purge(this.processed, id);
            case INBOX -> purge(this.inbox, id);
            case RESULTS -> purge(this.results, id);
            case POSITIONS -> {
                query(LOCK_POSITION, this.positions, id);
                update(DELETE_POSITION, this.positions, id);
            }
            case VERSIONS -> purge(this.versions, id);
        }
    }

    /** Whether the driver does not know what becomes of a transaction, so that rows stand witness. */
    boolean areWitnessesNeeded() {
        return Boolean.TRUE.equals(this.jdbc.execute(
                (ConnectionCallback<Boolean>) connection -> this.dialect.isTransactionAborted(connection) == null));
    }

    private void moveTo(MessageId id, long offset) {
        PositionClaim claim = new PositionClaim(id.consumer(), id.value(), 0, "none", offset, offset + 1);
        execute(connection -> this.position.execute(connection, List.of(claim), TIMEOUT_SECONDS));
    }

    private void inTransaction(Consumer<MessageId> work) {
        // Not the same for everyone: two who try it at once would wait for each other.
        MessageId id = new MessageId(CONSUMER, UUID.randomUUID().toString());
        Claim claimed = new Claim(id, NOWHERE);
        this.transaction.executeWithoutResult(status -> {
            status.setRollbackOnly();
            execute(connection -> {
                if (this.claim
                        .execute(connection, List.of(claimed), TIMEOUT_SECONDS)
                        .isEmpty()) {
                    throw new IllegalStateException("The table " + this.processed
                            + " does not take a message that it does not have: see what has been added to it");
                }
                return null;
            });
            query(FIND, this.processed, id);
            work.accept(id);
            if (areWitnessesNeeded()) {
                update(DELETE, this.processed, id);
            }
        });
    }

    private void move(MessageId id, long version) {
        if (this.moves != null) {
            VersionClaim claim = new VersionClaim(id, Version.of(version), NOWHERE, false);
            execute(connection -> this.moves.execute(connection, List.of(claim), TIMEOUT_SECONDS));
        }
    }

    private void execute(ConnectionCallback<@Nullable Object> statement) {
        this.jdbc.execute(statement);
    }

    private void purge(String table, MessageId id) {
        query(LOCK, table, id);
        update(DELETE, table, id);
    }

    private void query(String sql, String table, MessageId id) {
        this.jdbc.query(sql.formatted(table), row -> {}, id.consumer(), id.value());
    }

    private void update(String sql, String table, MessageId id) {
        this.jdbc.update(sql.formatted(table), id.consumer(), id.value());
    }

    /**
     * What a query finds, or the substitute if its table is not there, or the database denies it: who does not use a table need
     * not have it, nor a right to it.
     */
    public static <T> T findIfAccessible(Supplier<T> query, T substitute) {
        try {
            return query.get();
        } catch (DataAccessException ex) {
            if (denial(ex) == null && !(ex instanceof BadSqlGrammarException)) {
                throw ex;
            }
            return substitute;
        }
    }

    /** What the database says if it denies its user something, or {@code null} if it failed for another reason. */
    public static @Nullable String denial(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof SQLException)) {
            cause = cause.getCause();
        }
        return (cause instanceof SQLException sql
                        && (PERMISSION_DENIED.equals(sql.getSQLState())
                                || PERMISSION_DENIED_CODES.contains(sql.getErrorCode())))
                ? sql.getMessage()
                : null;
    }
}
