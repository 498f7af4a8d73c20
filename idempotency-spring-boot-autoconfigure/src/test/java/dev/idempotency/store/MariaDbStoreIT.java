package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.testing.TestMariaDb;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The session is in another time zone than the JVM. */
class MariaDbStoreIT extends AbstractProcessedMessageStoreIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow() + "&sessionVariables=time_zone='-09:30'";
    }

    @Override
    String analyze() {
        return "analyze table idempotency_processed";
    }

    @Test
    void aTableThatWasMadeByHandAndTakesDifferentIdsForEqualIsRefused() {
        DriverManagerDataSource dataSource = new DriverManagerDataSource(jdbcUrl());
        IdempotencyDatabase database = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
        new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
        for (String type : List.of(
                "varchar(255) character set utf8mb4 collate utf8mb4_general_ci",
                "varchar(255) character set utf8mb4 collate utf8mb4_bin",
                "varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin")) {
            database.jdbc().execute("alter table idempotency_processed modify message_id " + type + " not null");
            assertThatIllegalStateException()
                    .as(type)
                    .isThrownBy(new Schema(database, SchemaMode.VALIDATE)::afterPropertiesSet)
                    .withMessageContaining("idempotency_processed takes ids of messages for equal that are not");
        }
    }
}
