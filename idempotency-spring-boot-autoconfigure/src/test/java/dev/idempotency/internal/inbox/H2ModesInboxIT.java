package dev.idempotency.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.StoreServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Tests of applications run H2 in the compatibility mode of their production database. */
class H2ModesInboxIT {

    @ParameterizedTest
    @ValueSource(strings = {"PostgreSQL", "MySQL", "MariaDB", "Oracle", "MSSQLServer", "DB2", "LEGACY"})
    void theInboxIsWrittenReadAndCleanedInEveryModeOfH2(String mode) {
        try (HikariDataSource dataSource = new HikariDataSource()) {
            dataSource.setJdbcUrl("jdbc:h2:mem:inbox-" + mode + ";MODE=" + mode);
            IdempotencyDatabase database = StoreServer.tablesIn(dataSource);
            InboxTable table = new InboxTable(database, database.jdbc());
            InboxReader reader = new InboxReader(database);
            TransactionTemplate transaction = database.newTransaction();
            MessageId id = new MessageId("consumer", "1");
            StoredMessage message = message(id);
            transaction.executeWithoutResult(status -> table.insertFailed(
                    List.of(message, message(new MessageId("other", "1"))), InboxStatus.FAILED, "error"));
            transaction.executeWithoutResult(
                    status -> table.updateFailed(List.of(message), InboxStatus.FAILED, "error"));
            assertThat(reader.replayable("consumer", table.now(), 0, 10)).containsExactly(id);
            transaction.executeWithoutResult(status ->
                    table.complete(database.dialect().inboxCompletionIn(database.inboxTable()), List.of(message)));
            InboxQuery one = InboxQuery.ALL.withSize(1);
            assertThat(reader.find(one.withAfter(reader.find(one).next())).entries())
                    .hasSize(1);
            assertThat(reader.find(id).payload()).containsExactly(1, 2);
            assertThat(new InboxCleanup(database, List::of, null, Duration.ZERO, Duration.ZERO)
                            .purge(List.of("consumer"), InboxStatus.PROCESSED, Duration.ofDays(-1), Instant.EPOCH, 10)
                            .rows())
                    .isOne();
            assertThat(new ProcessedMessagePurge(database)
                            .purgeExpired("consumer", Duration.ofDays(1), ProcessedMessagePurge.BEGINNING, 10)
                            .rows())
                    .isZero();
        }
    }

    private static StoredMessage message(MessageId id) {
        return new StoredMessage(
                id, new RecordCoordinates("topic", 0, 0), "type", new byte[] {1}, "a: b", new byte[] {1, 2}, null);
    }
}
