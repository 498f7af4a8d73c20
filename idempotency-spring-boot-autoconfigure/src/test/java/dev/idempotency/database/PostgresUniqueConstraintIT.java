package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class PostgresUniqueConstraintIT extends AbstractUniqueConstraintIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    DataSource emptyDatabase() {
        return new DriverManagerDataSource(this.database.jdbcUrl());
    }

    @AfterAll
    void drop() {
        this.database.close();
    }

    @Test
    void theSameNameInAnotherSchemaIsAnotherConstraint() {
        execute(
                "create schema branch",
                "create table branch.payment (id bigint constraint payment_id unique)",
                "insert into branch.payment values (1)");
        SQLException error = errorOf("insert into branch.payment values (1)");
        assertThat(isViolated("payment_id", error)).isFalse();
        assertThat(isViolated("branch.payment.payment_id", error)).isTrue();
    }

    @Test
    void namesThatDifferInTheirCaseAreToldApartByQuotes() {
        execute(
                "create table \"Odd.Name\" (id int constraint \"Odd\" unique)",
                "create table even (id int constraint odd unique)",
                "insert into \"Odd.Name\" values (1)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("odd"))
                .withMessageContainingAll("may mean", "public.Odd.Name.Odd", "public.even.odd", "double quotes");
        SQLException error = errorOf("insert into \"Odd.Name\" values (1)");
        assertThat(isViolated("\"Odd\"", error)).isTrue();
        assertThat(isViolated("\"Odd.Name\".odd", error)).isTrue();
        assertThat(isViolated("even.odd", error)).isFalse();
        assertThat(constraint("\"Odd\"").isTaken(error, this.jdbc)).isTrue();
    }

    @Test
    void thePartitionsOfATableViolateItsConstraintAlsoThoseThatCameLater() {
        execute(
                "create table event (id int, day date, constraint event_pkey primary key (id, day)) partition by range (day)",
                "create table event_1 partition of event for values from ('2026-01-01') to ('2026-02-01')");
        UniqueConstraint constraint = constraint("event_pkey");
        execute(
                "create table event_2 partition of event for values from ('2026-02-01') to ('2027-01-01')"
                        + " partition by range (day)",
                "create table event_2_1 partition of event_2 for values from ('2026-02-01') to ('2026-03-01')",
                "insert into event values (1, '2026-01-05'), (1, '2026-02-05')");
        for (String day : new String[] {"2026-01-05", "2026-02-05"}) {
            SQLException error = errorOf("insert into event values (1, '" + day + "')");
            assertThat(constraint.isViolatedIn(error, this.jdbc)).as(day).isTrue();
            assertThat(constraint.isTaken(error, this.jdbc)).as(day).isTrue();
        }
        SQLException own =
                errorOf("insert into event values (2, '2026-01-05')", "insert into event values (2, '2026-01-05')");
        assertThat(constraint.isTaken(own, this.jdbc)).isFalse();
        assertThat(constraint.isViolatedIn(errorOf("insert into other values (1)"), this.jdbc))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "kind_uuid | uuid | '0a0a0a0a-0000-0000-0000-00000000000a'",
                "kind_time | timestamptz | '2026-01-01 12:00:00.123456+02'",
                "kind_bytes | bytea | '\\x00ff'",
                "kind_number | numeric(10, 2) | 1.50",
                "kind_char | char(10) | 'ab'",
                "kind_text | text | 'a), b)=(c'",
                "kind_array | int[] | '{1,2}'"
            })
    void keysOfAllTypesAreFoundAgain(String name, String type, String value) {
        execute("create table %1$s (k %2$s, constraint %1$s_k unique (k))".formatted(name, type));
        String insert = "insert into %s values (%s)".formatted(name, value);
        assertThat(constraint(name + "_k").isTaken(errorOf(insert, insert), this.jdbc))
                .isFalse();
        execute(insert);
        assertThat(constraint(name + "_k").isTaken(errorOf(insert), this.jdbc)).isTrue();
    }

    @Test
    void anIndexOnAnExpressionOfSomeRowsIsLookedUpAsItIs() {
        execute(
                "create table member (mail text, left_at date)",
                "create unique index member_mail on member (lower(mail)) where left_at is null",
                "insert into member values ('A@b', null)");
        assertThat(constraint("member_mail").isTaken(errorOf("insert into member values ('a@B', null)"), this.jdbc))
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
        assertThat(constraint("pair_ab").isTaken(errorOf("insert into pair values ('x, y', 'z')"), this.jdbc))
                .isNull();
        assertThat(constraint("pair_ab").isTaken(errorOf("insert into pair values (null, 'z')"), this.jdbc))
                .isNull();
    }

    @Test
    void whatOverlapsOrIsNotValidIsRefused() {
        execute(
                "create table stay (span int4range, constraint stay_once exclude using gist (span with &&))",
                "create table twice (id int)",
                "insert into twice values (1), (1)");
        assertThatException().isThrownBy(() -> execute("create unique index concurrently twice_id on twice (id)"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("stay_once"))
                .withMessageContaining("is an exclusion constraint");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("twice_id"))
                .withMessageContaining("is an index that is not valid");
    }
}
