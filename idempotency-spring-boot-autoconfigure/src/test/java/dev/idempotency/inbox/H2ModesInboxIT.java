package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.database.Tables;
import dev.idempotency.store.ProcessedMessagePurge;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of applications run H2 in the mode of the database that they have in production. */
class H2ModesInboxIT {

    @ParameterizedTest
    @ValueSource(strings = {"PostgreSQL", "MySQL", "MariaDB", "Oracle", "MSSQLServer", "DB2", "LEGACY"})
    void theInboxIsWrittenReadAndCleanedInEveryModeOfH2(String mode) {
        try (HikariDataSource dataSource = new HikariDataSource()) {
            dataSource.setJdbcUrl("jdbc:h2:mem:inbox-" + mode + ";MODE=" + mode);
            Dialect dialect = DialectResolver.of(dataSource);
            Tables tables = new Tables(null);
            new Schema(dataSource, dialect, tables, SchemaMode.MIGRATE).afterPropertiesSet();
            InboxDatabase database = new InboxDatabase(dataSource, dialect, tables);
            MessageId id = new MessageId("consumer", "1");
            KeptMessage message = new KeptMessage(
                    id, new RecordCoordinates("topic", 0, 0), "type", new byte[] {1}, "a: b", Payload.of(new byte[] {
                        1, 2
                    }));
            database.inNewTransaction(table -> table.insertFailed(List.of(message), "error"));
            database.inNewTransaction(table -> table.updateFailed(List.of(message), "error"));
            assertThat(database.reader().replayable("consumer", database.callInNewTransaction(InboxTable::now), 10))
                    .containsExactly(id);
            database.inNewTransaction(table -> table.complete(List.of(message)));
            assertThat(database.reader().find(InboxQuery.ALL).entries()).hasSize(1);
            assertThat(database.reader().find(id).payload()).containsExactly(1, 2);
            assertThat(new InboxPurge(dataSource, dialect, tables)
                            .forget(List.of("consumer"), InboxStatus.PROCESSED, Duration.ofDays(-1), Instant.EPOCH, 10)
                            .rows())
                    .isOne();
            assertThat(new ProcessedMessagePurge(dataSource, dialect, tables)
                            .forgetExpired("consumer", Duration.ofDays(1), ProcessedMessagePurge.BEGINNING, 10)
                            .rows())
                    .isZero();
        }
    }
}
