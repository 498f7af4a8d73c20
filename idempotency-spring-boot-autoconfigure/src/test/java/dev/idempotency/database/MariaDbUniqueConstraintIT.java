package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.testing.TestMariaDb;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class MariaDbUniqueConstraintIT extends AbstractUniqueConstraintIT {

    @Override
    DataSource emptyDatabase() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "No MariaDB server starts here");
        return new DriverManagerDataSource(url.get());
    }

    /** All of them have the same name, and errors do not tell the table. */
    @Test
    void aPrimaryKeyIsNamedWithItsTableAndFoundByItsRow() {
        execute(
                "create table ticket (id bigint primary key)",
                "create table seat (id bigint primary key)",
                "insert into ticket values (1)",
                "insert into seat values (1), (2)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("primary"))
                .withMessageContaining("may mean");
        SQLException ofTicket = errorOf("insert into ticket values (1)");
        assertThat(isViolated("ticket.PRIMARY", ofTicket)).isTrue();
        SQLException ofSeat = errorOf("insert into seat values (2)");
        assertThat(isViolated("ticket.PRIMARY", ofSeat)).isFalse();
        assertThat(isViolated("seat.PRIMARY", ofSeat)).isTrue();
    }

    @Test
    void aSharedNameWhoseRowCannotBeLookedUpIsRefused() {
        execute("create table seats (hall int, seat int, primary key (hall, seat))");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> constraint("seats.PRIMARY"))
                .withMessageContainingAll("do not name the table", "a name of its own");
    }

    @Test
    void whatMySqlSaysOfTheTableIsUnderstood() {
        FoundConstraint found = new FoundConstraint("shop", "payment", "PRIMARY", null, true, null);
        MySqlUniqueConstraint constraint = new MySqlUniqueConstraint(found, true, null);
        assertThat(constraint.isViolatedIn(duplicateEntry("'1' for key 'payment.PRIMARY'"), this.jdbc))
                .isTrue();
        assertThat(constraint.isViolatedIn(duplicateEntry("'1' for key 'entry.PRIMARY'"), this.jdbc))
                .isFalse();
        assertThat(constraint.isViolatedIn(duplicateEntry("'1' for key 'prepayment.PRIMARY'"), this.jdbc))
                .isFalse();
    }

    @Test
    void anErrorToWhichTheDriverHasAppendedWhatWasWrittenIsNotRelied() {
        SQLException error = duplicateEntry(
                "'1' for key 'other_id'\nQuery is: insert into payment values ('x' for key 'payment_id'");
        assertThat(isViolated("payment_id", error)).isFalse();
    }

    private static SQLException duplicateEntry(String entry) {
        return new SQLException("(conn=5) Duplicate entry " + entry, "23000", 1062);
    }
}
