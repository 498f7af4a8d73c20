package dev.idempotency.internal.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import dev.idempotency.MessageId;
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

    @Test
    void aClaimWithTheCommitGoesIntoTheSlot() {
        JdbcProcessedMessageStore store = this.server.start(RetentionMode.RING);
        ClaimStrategy atCommit = atCommit(store);
        MessageId id = new MessageId("billing", RingServer.id(Instant.now()));
        InboundMessage message = new InboundMessage(
                0, new ConsumerRecord<>("topic", 3, 42, null, "payload"), id, RingServer.SOMEWHERE, null, null, null);
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

    @Test
    void duringASwitchMessagesAreClaimedFirst() {
        this.server.claim(this.server.start(RetentionMode.DELETE), "billing", "order-1");
        assertThat(atCommit(this.server.start(RetentionMode.RING))).isInstanceOf(MessageIdStrategy.class);
    }
}
