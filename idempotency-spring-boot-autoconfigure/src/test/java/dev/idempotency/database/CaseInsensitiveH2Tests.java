package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** H2 may be told to take no notice of case, or of more than that, and then two ids would be one. */
class CaseInsensitiveH2Tests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=MySQL;IGNORECASE=TRUE",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;IGNORECASE=TRUE",
                "INIT=SET COLLATION ENGLISH STRENGTH PRIMARY"
            })
    void aDatabaseThatTakesDifferentTextsForEqualIsRefused(String settings) {
        DriverManagerDataSource dataSource = new DriverManagerDataSource(
                "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;%s".formatted(UUID.randomUUID(), settings));
        IdempotencyDatabase database = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
        assertThatIllegalStateException()
                .isThrownBy(new Schema(database, SchemaMode.MIGRATE)::afterPropertiesSet)
                .withMessageContaining("idempotency_processed takes ids of messages for equal that are not");
    }
}
