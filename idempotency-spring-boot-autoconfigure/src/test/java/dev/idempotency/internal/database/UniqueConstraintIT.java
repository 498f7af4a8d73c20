package dev.idempotency.internal.database;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** How PostgreSQL names constraints, and reports the violated one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UniqueConstraintIT {

    private final TestDatabase database = TestPostgres.createDatabase();
    private final DataSource dataSource = new DriverManagerDataSource(this.database.jdbcUrl());
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private final TransactionTemplate transaction =
            new TransactionTemplate(new JdbcTransactionManager(this.dataSource));

    @BeforeAll
    void createTables() {
        execute(
                "create table payment (id bigint not null, reference varchar(200) not null, shop int not null,"
                        + " number varchar(50) not null, amount int,"
                        + " constraint payment_id unique (id), constraint payment_id_2 unique (reference),"
                        + " constraint payment_number unique (shop, number),"
                        + " constraint payment_amount check (amount > 0))",
                "create index payment_slow on payment (amount)",
                "create table entry (id varchar(50) primary key, payment bigint not null,"
                        + " constraint entry_payment foreign key (payment) references payment (id))",
                "create unique index entry_once on entry (payment)",
                "create table other (id bigint not null, constraint other_id unique (id))",
                "create schema branch",
                "create table branch.payment (id bigint not null constraint payment_id unique)",
                "insert into branch.payment values (1)",
                "create table stay (span int4range, constraint stay_once exclude using gist (span with &&))",
                "create table event (id int, day date, constraint event_pkey primary key (id, day)) partition by range (day)",
                "insert into payment values (1, 'r', 1, 'a', 1)",
                "insert into entry values ('e', 1)",
                "insert into other values (1)");
    }

    @AfterAll
    void drop() {
        this.database.close();
    }

    private void execute(String... statements) {
        for (String statement : statements) {
            this.jdbc.execute(statement);
        }
    }

    private UniqueConstraint constraint(String name) {
        return UniqueConstraint.find(name, this.jdbc);
    }

    private boolean isViolated(String name, SQLException error) {
        return constraint(name).isViolatedIn(error);
    }

    /** Returns the error of the last of these statements, in a transaction that is rolled back. */
    private SQLException errorOf(String... statements) {
        return (SQLException) catchThrowableOfType(
                        DataAccessException.class,
                        () -> this.transaction.executeWithoutResult(status -> execute(statements)))
                .getCause();
    }

    private @Nullable Boolean isTaken(String name, String... statements) {
        return constraint(name).isTaken(errorOf(statements), this.jdbc);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            payment_id | insert into payment values (1, 'n', 9, 'n', 1)
            PUBLIC.Payment_Id | insert into payment values (1, 'n', 9, 'n', 1)
            branch.payment_id | insert into branch.payment values (1)
            payment_id_2 | insert into payment values (9, 'r', 9, 'n', 1)
            payment_number | insert into payment values (9, 'n', 1, 'a', 1)
            entry_once | insert into entry values ('n', 1)
            """)
    void exactlyTheConstraintThatIsMeantIsFoundViolatedAndItsRowThere(String name, String statement) {
        SQLException error = errorOf(statement);
        assertThat(isViolated(name, error)).isTrue();
        assertThat(constraint(name).isTaken(error, this.jdbc)).isTrue();
        for (String another : new String[] {"payment_id", "payment_id_2", "payment_number", "entry_once", "other_id"}) {
            assertThat(isViolated(another, error))
                    .as(another)
                    .isEqualTo(name.toLowerCase().replace("public.", "").equals(another));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            payment_id | insert into payment values (7, 'n', 9, 'n', 1)
            payment_id_2 | insert into payment values (8, 'own', 9, 'n', 1)
            payment_number | insert into payment values (8, 'n', 7, 'own', 1)
            """)
    void aRowThatTheTransactionHasInsertedItselfIsNotThere(String name, String statement) {
        String own = "insert into payment values (7, 'own', 7, 'own', 1)";
        assertThat(isViolated(name, errorOf(own, statement))).isTrue();
        assertThat(isTaken(name, own, statement)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"payment_amount", "entry_payment", "payment_slow", "nowhere.payment_id", "stay_once", "'\"?"})
    void aNameThatIsNotOneOfAUniqueConstraintIsRefused(String name) {
        assertThrown(
                IllegalArgumentException.class,
                () -> constraint(name),
                "There is no unique constraint or index " + name,
                "for instance, [");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            identity_by_default | bigint generated by default as identity | primary key | is generated
            identity_always | bigint generated always as identity | unique | is generated
            serial_key | bigserial | primary key | is generated
            uuid_key | uuid default gen_random_uuid() | primary key | is generated
            null_key | bigint | unique | may be null
            """)
    void aConstraintThatIsNeverViolatedIsRefused(String name, String type, String kind, String why) {
        execute("create table %1$s (id %2$s constraint %1$s_id %3$s)".formatted(name, type, kind));
        assertThrown(IllegalArgumentException.class, () -> constraint(name + "_id"), "Its column 'id'", why);
    }

    @Test
    void aConstraintOfAPartitionedTableIsRefused() {
        assertThrown(IllegalArgumentException.class, () -> constraint("event_pkey"), "partitioned table");
    }

    @Test
    void namesThatDifferInTheirCaseAreToldApart() {
        execute(
                "create table \"Odd.Name\" (id int not null constraint \"Odd\" unique)",
                "create table even (id int not null constraint odd unique)",
                "insert into \"Odd.Name\" values (1)");
        SQLException error = errorOf("insert into \"Odd.Name\" values (1)");
        assertThat(isViolated("Odd", error)).isTrue();
        assertThat(isViolated("public.Odd", error)).isTrue();
        assertThat(isViolated("odd", error)).isFalse();
        assertThat(constraint("Odd").isTaken(error, this.jdbc)).isTrue();
        DataSource untyped = new DriverManagerDataSource(this.database.jdbcUrl() + "&stringtype=unspecified");
        assertThat(UniqueConstraint.find("Odd", new JdbcTemplate(untyped))).isEqualTo(constraint("Odd"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            kind_uuid | uuid | '0a0a0a0a-0000-0000-0000-00000000000a'
            kind_time | timestamptz | '2026-01-01 12:00:00.123456+02'
            kind_bytes | bytea | '\\x00ff'
            kind_number | numeric(10, 2) | 1.50
            kind_char | char(10) | 'ab'
            kind_text | text | 'a), b)=(c'
            kind_array | int[] | '{1,2}'
            """)
    void keysOfAllTypesAreFoundAgain(String name, String type, String value) {
        execute("create table %1$s (k %2$s not null, constraint %1$s_k unique (k))".formatted(name, type));
        String insert = "insert into %s values (%s)".formatted(name, value);
        assertThat(isTaken(name + "_k", insert, insert)).isFalse();
        execute(insert);
        assertThat(isTaken(name + "_k", insert)).isTrue();
    }

    @Test
    void anIndexOnAnExpressionOfSomeRowsIsLookedUpAsItIs() {
        execute(
                "create table member (mail text not null, left_at date)",
                "create unique index member_mail on member (lower(mail)) where left_at is null",
                "insert into member values ('A@b', null)");
        assertThat(isTaken("member_mail", "insert into member values ('a@B', null)"))
                .isTrue();
        execute("insert into member values ('gone@b', '2026-01-01')");
        SQLException own =
                errorOf("insert into member values ('gone@b', null)", "insert into member values ('GONE@b', null)");
        assertThat(isViolated("member_mail", own)).isTrue();
        assertThat(constraint("member_mail").isTaken(own, this.jdbc)).isFalse();
    }

    @Test
    void valuesThatCannotBeToldApartAreNotLookedUp() {
        execute("create table pair (a text, b text, constraint pair_ab unique nulls not distinct (a, b))");
        execute("insert into pair values ('x, y', 'z'), (null, 'z')");
        assertThat(isTaken("pair_ab", "insert into pair values ('x, y', 'z')")).isNull();
        assertThat(isTaken("pair_ab", "insert into pair values (null, 'z')")).isNull();
    }
}
