package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.idempotency.IdempotencyConfigurationException;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A user who may not do all that the library does with its tables is refused, on a database that names rights by table. */
class UserRightsIT {

    private static final String URL = "jdbc:h2:mem:user-rights";

    private final JdbcTemplate owner =
            new JdbcTemplate(new DriverManagerDataSource(URL + ";DB_CLOSE_DELAY=-1", "sa", ""));

    private static IdempotencyDatabase database(String user) {
        return new IdempotencyDatabase(new DriverManagerDataSource(URL, user, ""), new H2Dialect(), null);
    }

    @Test
    void eachRightThatIsMissingIsNamed() {
        this.owner.execute("create user app password ''");
        new Schema(database("sa"), SchemaMode.MIGRATE).afterPropertiesSet();
        Schema schema = new Schema(database("app"), SchemaMode.VALIDATE);
        for (String right : new String[] {"select", "insert", "update", "delete"}) {
            assertThatExceptionOfType(IdempotencyConfigurationException.class)
                    .as("without " + right)
                    .isThrownBy(schema::afterPropertiesSet)
                    .extracting(IdempotencyConfigurationException::action, STRING)
                    .contains("grant select, insert, update, delete on idempotency_processed to APP;")
                    .contains("grant select, update on idempotency_lock to APP;");
            this.owner.execute("grant " + right + " on schema public to app");
        }
        assertThatCode(schema::afterPropertiesSet).doesNotThrowAnyException();
    }
}
