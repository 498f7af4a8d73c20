package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;

/** The session is in another time zone than the JVM. */
class MariaDbInboxIT extends AbstractInboxIT {

    /** Claims of several messages that others forget or give back lock the gaps between them. */
    @Override
    boolean isToBeExpected(DataAccessException failure) {
        return failure instanceof PessimisticLockingFailureException;
    }

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow() + "&sessionVariables=time_zone='-09:30'&maxAllowedPacket=300000";
    }

    /** Otherwise the consumer would wait for the database for ever. */
    @Test
    void aMessageThatTheDriverRefusesAsTooLargeIsTheMessagesFault() {
        assertThatThrownBy(() -> process(message("large", new byte[400_000], 0)))
                .satisfies(failure -> assertThat(new DatabaseFailureClassifier().classify(failure))
                        .isEqualTo(FailureKind.MESSAGE));
    }
}
