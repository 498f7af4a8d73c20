package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** How the databases name their constraints, and say which one was violated. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractUniqueConstraintIT {

    DataSource dataSource;
    JdbcTemplate jdbc;
    private Dialect dialect;

    /** Somewhere empty. */
    abstract DataSource emptyDatabase();

    @BeforeAll
    void createTables() {
        this.dataSource = emptyDatabase();
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.dialect = DialectResolver.resolve(this.dataSource);
        execute(
                "create table payment (id bigint not null, reference varchar(200), shop int, number varchar(50), amount int,"
                        + " constraint payment_id unique (id), constraint payment_id_2 unique (reference),"
                        + " constraint payment_number unique (shop, number),"
                        + " constraint payment_amount check (amount > 0))",
                "create index payment_slow on payment (amount)",
                "create table entry (id varchar(50) primary key, payment bigint,"
                        + " constraint entry_payment foreign key (payment) references payment (id))",
                "create unique index entry_once on entry (payment)",
                "create table other (id bigint not null, constraint other_id unique (id))",
                "insert into payment values (1, 'r', 1, 'a', 1)",
                "insert into entry values ('e', 1)",
                "insert into other values (1)");
    }

    final void execute(String... statements) {
        for (String statement : statements) {
            this.jdbc.execute(statement);
        }
    }

    final UniqueConstraint constraint(String name) {
        return this.dialect.uniqueConstraint(ConstraintName.parse(name), this.jdbc);
    }

    final boolean isViolated(String name, SQLException error) {
        return constraint(name).isViolatedIn(error, this.jdbc);
    }

    /** What the last of these statements fails with, in a transaction that is rolled back. */
    final SQLException errorOf(String... statements) {
        SQLException error = catchThrowableOfType(SQLException.class, () -> {
            try (Connection connection = this.dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                try {
                    for (String sql : statements) {
                        statement.execute(sql);
                    }
                    connection.commit();
                } finally {
                    connection.rollback();
                    connection.setAutoCommit(true);
                }
            }
        });
        assertThat((Throwable) error).isNotNull();
        return error;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "payment_id | insert into payment values (1, 'n', 9, 'n', 1)",
                "PAYMENT.Payment_Id | insert into payment values (1, 'n', 9, 'n', 1)",
                "payment_id_2 | insert into payment values (9, 'r', 9, 'n', 1)",
                "payment_number | insert into payment values (9, 'n', 1, 'a', 1)",
                "entry_once | insert into entry values ('n', 1)"
            })
    void exactlyTheConstraintThatIsMeantIsFoundViolatedAndItsRowThere(String name, String statement) {
        SQLException error = errorOf(statement);
        assertThat(isViolated(name, error)).isTrue();
        assertThat(constraint(name).isTaken(error, this.jdbc)).isNotEqualTo(false);
        for (String another : new String[] {"payment_id", "payment_id_2", "payment_number", "entry_once", "other_id"}) {
            assertThat(isViolated(another, error))
                    .as(another)
                    .isEqualTo(name.toLowerCase().endsWith(another));
        }
    }

    @Test
    void aRowThatTheTransactionHasInsertedItselfIsNotThere() {
        SQLException error = errorOf(
                "insert into payment values (7, 'own', 7, 'own', 1)", "insert into payment values (7, 'n', 9, 'n', 1)");
        assertThat(isViolated("payment_id", error)).isTrue();
        assertThat(constraint("payment_id").isTaken(error, this.jdbc)).isFalse();
        SQLException text = errorOf(
                "insert into payment values (7, 'own', 7, 'own', 1)",
                "insert into payment values (8, 'own', 9, 'n', 1)");
        assertThat(constraint("payment_id_2").isTaken(text, this.jdbc)).isFalse();
        SQLException ofTwoColumns = errorOf(
                "insert into payment values (7, 'own', 7, 'own', 1)",
                "insert into payment values (8, 'n', 7, 'own', 1)");
        assertThat(isViolated("payment_number", ofTwoColumns)).isTrue();
        assertThat(constraint("payment_number").isTaken(ofTwoColumns, this.jdbc))
                .isFalse();
        assertThat(constraint("payment_number")
                        .isTaken(errorOf("insert into payment values (9, 'n', 1, 'a', 1)"), this.jdbc))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x' for key 'payment_id", "(id)=(1)", "\" ON PUBLIC.PAYMENT(ID)", "a\"b''", "it''s, 1"})
    void whatWasWrittenIsNotTakenForTheNameOfAConstraint(String value) {
        String quoted = value.replace("''", "'").replace("'", "''");
        execute("insert into payment values (100, '" + quoted + "', 100, 'n', 1)");
        try {
            SQLException error = errorOf("insert into payment values (9, '" + quoted + "', 9, 'n', 1)");
            assertThat(isViolated("payment_id", error)).isFalse();
            assertThat(isViolated("payment_id_2", error)).isTrue();
            assertThat(constraint("payment_id_2").isTaken(error, this.jdbc)).isNotEqualTo(false);
        } finally {
            execute("delete from payment where id = 100");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "insert into payment values (9, 'n', 9, 'n', 0)",
                "insert into payment values (null, 'n', 9, 'n', 1)",
                "insert into entry values ('n', 17)",
                "insert into nowhere values (1)",
                "insert into other values (1)"
            })
    void anyOtherErrorIsNoViolation(String statement) {
        assertThat(isViolated("payment_id", errorOf(statement))).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "payment_amount | is a check constraint",
                "entry_payment | is a foreign key",
                "payment_slow | is an index that is not unique",
                "payment_idd | There is no unique constraint and no unique index 'payment_idd'",
                "other.payment_id | There is no unique constraint and no unique index 'other.payment_id'",
                "nowhere.payment.payment_id | There is no unique constraint and no unique index",
                "a.b.c.d | is no name of a constraint",
                "payment_id. | is no name of a constraint",
                "payment. .x | is no name of a constraint"
            })
    void aNameThatCannotTellDuplicatesIsRefused(String name, String why) {
        assertThatIllegalArgumentException().isThrownBy(() -> constraint(name)).withMessageContaining(why);
    }

    @Test
    void whatIsNearbyIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("payment_idd"))
                .satisfies(refusal -> assertThat(refusal.getMessage().toLowerCase())
                        .contains("payment.payment_id, ", "payment.payment_id_2"));
    }
}
