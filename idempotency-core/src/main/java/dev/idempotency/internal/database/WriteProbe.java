package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Claims messages in a transaction that is rolled back: privileges may be missing, and the server may be read-only. */
public final class WriteProbe {

    /** Query timeout, including lock waits. */
    static final int TIMEOUT_SECONDS = 3;

    private static final RecordCoordinates NOWHERE = new RecordCoordinates("none", 0, 0);

    private static final String LONG = "x".repeat(MessageId.MAX_VALUE_LENGTH - 1);

    /** Ids that some tables take for one: in another case, with what is padded or not seen, or with what does not fit in. */
    private static final List<String> ALMOST_EQUAL = List.of("A", "a", "a\u0001", "a ", LONG + "1", LONG + "2");

    private static final String PERMISSION_DENIED = "42501";

    /** MySQL and MariaDB: of a database, a table, a column, by a missing privilege; H2. */
    private static final Set<Integer> PERMISSION_DENIED_CODES = Set.of(1044, 1142, 1143, 1227, 90096);

    private final String table;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final ClaimStatement claim;

    public WriteProbe(IdempotencyDatabase database) {
        this.table = database.processedTable();
        this.claim = database.dialect().claimIn(this.table);
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        // As listeners' transactions: a server may refuse to write in another isolation than its own.
        this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_DEFAULT);
        this.transaction.setTimeout(TIMEOUT_SECONDS);
    }

    /** Claims a message; fails as that does. */
    public void tryClaims() {
        rolledBack(consumer -> {
            if (claim(consumer, List.of("a")) == 0) {
                throw new IllegalStateException(
                        "A new message could not be inserted into %s: a trigger, partition or extra index rejects it"
                                .formatted(this.table));
            }
        });
    }

    /**
     * Claims messages whose ids are almost equal, and executes statements that change nothing.
     *
     * @throws IllegalStateException if the table takes an id for another, or lets one be claimed twice
     */
    void tryAll(Stream<String> statements) {
        rolledBack(consumer -> {
            if (claim(consumer, ALMOST_EQUAL) < ALMOST_EQUAL.size()) {
                throw inexact(
                        "takes ids of messages for equal that are not, as they differ in case, at their end or in a"
                                + " control character: of two such messages one would be dropped as a duplicate");
            }
            if (claim(consumer, List.of("a")) > 0) {
                throw inexact("lets a message be claimed twice, which would be processed twice");
            }
            statements.forEach(this.jdbc::update);
        });
    }

    /** Uses a new consumer name each time: concurrent trials would wait for each other. */
    private void rolledBack(Consumer<String> work) {
        this.transaction.executeWithoutResult(status -> {
            status.setRollbackOnly();
            work.accept("idempotency/trial " + UUID.randomUUID());
        });
    }

    /** How many were free. */
    private int claim(String consumer, List<String> ids) {
        List<Claim> claims = ids.stream()
                .map(id -> new Claim(new MessageId(consumer, id), NOWHERE))
                .toList();
        ConnectionCallback<Set<MessageId>> statement =
                connection -> this.claim.execute(connection, claims, TIMEOUT_SECONDS);
        return Objects.requireNonNull(this.jdbc.execute(statement)).size();
    }

    private IllegalStateException inexact(String what) {
        return new IllegalStateException(
                ("The table %s %s. Let its primary key, consumer_id and message_id, be as the script has it that makes the"
                                + " table: on MariaDB and MySQL with its lengths and collations, on H2 without IGNORECASE and"
                                + " COLLATION in the URL or before the script.")
                        .formatted(this.table, what));
    }

    /** Returns the database's message if it denies a privilege, or {@code null} if it failed for another reason. */
    static @Nullable String denial(Throwable failure) {
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
