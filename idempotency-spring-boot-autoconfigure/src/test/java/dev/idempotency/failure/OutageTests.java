package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.IdempotencyEventListener;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutageTests {

    private static final Duration SHORT = Duration.ofMillis(1);

    private final List<String> heard = new ArrayList<>();
    private final Outage outage =
            new Outage("consumer", failure -> FailureKind.OUTAGE, new BackOffSettings(SHORT, SHORT, 3), () -> true);

    @BeforeEach
    void observe() {
        this.outage.setObserver(new IdempotencyEventListener() {

            @Override
            public void outageBegan(Throwable cause) {
                OutageTests.this.heard.add("began");
            }

            @Override
            public void outageEnded(long nanos) {
                OutageTests.this.heard.add("ended");
            }
        });
    }

    private void fail(int partition) {
        this.outage.recordFailure(
                FailureKind.OUTAGE, new SQLException("cut", "08006"), new RecordCoordinates("topic", partition, 0));
    }

    /** The thread of a consumer that could not be closed: nobody is told that it ends. */
    private void failOnAThreadThatEnds() throws InterruptedException {
        Thread thread = new Thread(() -> fail(0));
        thread.start();
        thread.join();
    }

    @Test
    void aThreadThatHasEndedDoesNotWait() throws InterruptedException {
        failOnAThreadThatEnds();
        assertThat(this.heard).containsExactly("began");
        assertThat(this.outage.current()).isEmpty();
        assertThat(this.heard).containsExactly("began", "ended");
    }

    @Test
    void theSuccessOfAnotherThreadEndsItThen() throws InterruptedException {
        failOnAThreadThatEnds();
        this.outage.recordSuccess();
        assertThat(this.heard).containsExactly("began", "ended");
    }

    @Test
    void aContainerThatIsStoppedIsNotSaidToHaveSucceeded() {
        try (FailureLog log = new FailureLog(Outage.class.getName())) {
            fail(0);
            this.outage.recordStop();
            assertThat(log.lines()).last().asString().contains("was stopped while it waited for the database, after ");
        }
        assertThat(this.heard).containsExactly("began", "ended");
    }

    @Test
    void aThreadThatStillWaitsIsWaitedFor() throws InterruptedException {
        failOnAThreadThatEnds();
        fail(1);
        assertThat(this.outage.current()).hasSize(1);
        assertThat(this.heard).containsExactly("began");
        this.outage.recordSuccess();
        assertThat(this.outage.current()).isEmpty();
        assertThat(this.heard).containsExactly("began", "ended");
    }
}
