package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What a user must be allowed to do for positions and witnesses, on a database whose driver does not watch transactions. */
class UserRightsIT {

    private static final String URL = "jdbc:h2:mem:user-rights";

    private final JdbcTemplate owner =
            new JdbcTemplate(new DriverManagerDataSource(URL + ";DB_CLOSE_DELAY=-1", "sa", ""));
    private final Schema schema = new Schema(database("app"), SchemaMode.VALIDATE);

    private static IdempotencyDatabase database(String user) {
        return new IdempotencyDatabase(new DriverManagerDataSource(URL, user, ""), new H2Dialect(), null);
    }

    @BeforeEach
    void createUser() {
        this.owner.execute("drop all objects");
        new Schema(database("sa"), SchemaMode.MIGRATE).afterPropertiesSet();
        this.owner.execute("drop user if exists app");
        this.owner.execute("create user app password ''");
        this.owner.execute("grant select on schema public to app");
        this.owner.execute("grant insert on idempotency_processed to app");
    }

    @Test
    void aWitnessIsRemovedAgain() {
        assertThatIllegalStateException()
                .isThrownBy(this.schema::afterPropertiesSet)
                .withMessageContaining("Grant select, insert, delete on idempotency_processed");
        this.owner.execute("grant delete on idempotency_processed to app");
        assertThatCode(this.schema::tryOut).doesNotThrowAnyException();
    }

    @Test
    void positionsAreMovedAndWhereOldOnesAreRemovedDeleted() {
        this.owner.execute("grant insert on idempotency_position to app");
        this.owner.execute("grant delete on idempotency_processed to app");
        assertThatIllegalStateException()
                .isThrownBy(() -> this.schema.use(TableUse.POSITIONS))
                .withMessageContaining("Grant select, insert, update, delete on");
        this.owner.execute("grant update on idempotency_position to app");
        assertThatCode(this.schema::tryOut).doesNotThrowAnyException();
        this.owner.execute("grant update on idempotency_processed to app");
        assertThatIllegalStateException()
                .isThrownBy(() -> this.schema.use(TableUse.CLEANUP))
                .withMessageContaining("IDEMPOTENCY_POSITION")
                .withMessageContaining("Grant select, insert, update, delete on");
        this.owner.execute("grant delete on idempotency_position to app");
        assertThatCode(this.schema::tryOut).doesNotThrowAnyException();
    }
}
