package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureKind;
import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Distinguishes outages from failures of messages that look like one, and reports them. */
@ExtendWith(OutputCaptureExtension.class)
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

    /** Fails on a thread that ends unreported, like that of a consumer that could not be closed. */
    private void failOnAThreadThatEnds() throws InterruptedException {
        Thread thread = new Thread(() -> fail(0));
        thread.start();
        thread.join();
    }

    @Test
    void theApplicationsClassifierIsNotAskedAboutTheStore() {
        OutageRegistry registry = new OutageRegistry(
                "applications", failure -> FailureKind.MESSAGE, new BackOffSettings(SHORT, SHORT, 3), () -> true);
        assertThat(registry.classify(new IllegalStateException("its own"))).isEqualTo(FailureKind.MESSAGE);
        assertThat(registry.classify(new IllegalStateException(new StoreFailedException("no such table", null))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void theDriversWordsAreLoggedRatherThanTheirCause(CapturedOutput output) {
        SQLException refused = new SQLException("Connection to db:5432 refused", "08001", new ConnectException());
        RecordCoordinates where = new RecordCoordinates("topic", 0, 0);
        this.outage.recordFailure(FailureKind.OUTAGE, new IllegalStateException(refused), where);
        assertThat(output)
                .contains("waits for the database at topic-0@0: java.sql.SQLException: Connection to db:5432");
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
    void aContainerThatIsStoppedIsNotSaidToHaveSucceeded(CapturedOutput output) {
        fail(0);
        this.outage.recordStop();
        assertThat(output).contains("was stopped while it waited for the database, after ");
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

    private static final int PATIENCE = 3;

    private static final Exception CUT = new SQLException("cut", "08006");

    private final AtomicBoolean storeAnswers = new AtomicBoolean(true);
    private final PoisonRecordDetector suspects =
            new PoisonRecordDetector("consumer", PATIENCE, this.storeAnswers::get);
    private final ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 0, 5, null, null);

    private boolean isToBlameAfter(int failures, Exception failure) {
        boolean blamed = false;
        for (int i = 0; i < failures; i++) {
            blamed = this.suspects.recordFailure(failure, this.record);
        }
        return blamed;
    }

    @Test
    void aDatabaseThatComesAndGoesIsNotTheRecordsFault() {
        for (int i = 0; i < 10; i++) {
            assertThat(isToBlameAfter(PATIENCE, CUT)).isFalse();
            assertThat(isToBlameAfter(1, new SQLTransientConnectionException("no connection")))
                    .isFalse();
            assertThat(isToBlameAfter(PATIENCE, CUT)).isFalse();
            this.storeAnswers.set(false);
            assertThat(isToBlameAfter(1, CUT)).isFalse();
            this.storeAnswers.set(true);
        }
    }

    @Test
    void aServerThatGoesDownOrWhoseDiskIsFullIsNotTheRecordsFault() {
        for (String state : new String[] {"57P01", "57P02", "53100", "58030"}) {
            assertThat(isToBlameAfter(5 * PATIENCE, new SQLException("server", state)))
                    .as(state)
                    .isFalse();
        }
        assertThat(isToBlameAfter(5 * PATIENCE, new SQLException("table full", "HY000", 1114)))
                .isFalse();
    }
}
