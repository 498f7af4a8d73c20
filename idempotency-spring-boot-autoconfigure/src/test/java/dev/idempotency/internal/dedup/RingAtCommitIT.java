package dev.idempotency.internal.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.MessageId;
import dev.idempotency.StoreFailedException;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.RingServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Claims at the commit, in a ring of tables. */
class RingAtCommitIT {

    private final RingServer server = new RingServer();

    @AfterEach
    void close() {
        this.server.close();
    }

    private static ClaimStrategy atCommit(JdbcProcessedMessageStore store) {
        return new ClaimAtCommitStrategy(new MessageIdStrategy(store), store.database(), Duration.ofSeconds(30))
                .within(true);
    }

    private static InboundMessage message(MessageId id) {
        return new InboundMessage(
                0, new ConsumerRecord<>("topic", 3, 42, null, "payload"), id, RingServer.SOMEWHERE, null, null, null);
    }

    @Test
    void aClaimWithTheCommitGoesIntoTheSlot() {
        JdbcProcessedMessageStore store = this.server.start(RetentionMode.RING);
        ClaimStrategy atCommit = atCommit(store);
        MessageId id = new MessageId("billing", RingServer.id(Instant.now()));
        InboundMessage message = message(id);
        this.server.transaction.executeWithoutResult(status -> atCommit.commit(List.of(message)));
        assertThat(this.server.count("only idempotency_processed")).isZero();
        assertThat(store.find(List.of(id))).hasSize(1);
        assertThatException()
                .isThrownBy(
                        () -> this.server.transaction.executeWithoutResult(status -> atCommit.commit(List.of(message))))
                .withStackTraceContaining("duplicate key");
        assertThat(atCommit.refusalOf(message, new IllegalStateException()).duplicates())
                .hasSize(1);
    }

    /** An instance that should have been stopped waits; its messages are not dead-lettered. */
    @Test
    void aRefusalByTheRingIsNoFailureOfTheMessage() {
        JdbcProcessedMessageStore old = this.server.start(RetentionMode.DELETE);
        this.server.start(RetentionMode.RING);
        InboundMessage message = message(new MessageId("billing", RingServer.id(Instant.now())));
        assertThatException()
                .isThrownBy(() -> this.server.transaction.executeWithoutResult(
                        status -> atCommit(old).commit(List.of(message))))
                .withStackTraceContaining("belongs into a slot of the ring")
                .satisfies(failure -> assertThat(new DatabaseFailureClassifier().classify(failure))
                        .isEqualTo(FailureKind.OUTAGE));
    }

    @Test
    void aRingWithoutStateIsNoFailureOfTheMessage() {
        JdbcProcessedMessageStore store = this.server.start(RetentionMode.RING);
        this.server.jdbc.execute("truncate idempotency_ring");
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> atCommit(store));
    }

    @Test
    void duringASwitchMessagesAreClaimedFirst() {
        this.server.claim(this.server.start(RetentionMode.DELETE), "billing", "order-1");
        assertThat(atCommit(this.server.start(RetentionMode.RING))).isInstanceOf(MessageIdStrategy.class);
    }
}
