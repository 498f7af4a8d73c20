package dev.idempotency.internal.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.Duplicate;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MessageIdStrategyTests {

    private final RememberingStore store = new RememberingStore();
    private final MessageIdStrategy strategy = new MessageIdStrategy(this.store);

    @Test
    void aMessageWithoutAnIdEntersUnclaimed() {
        assertThat(positions(request(message(null, 0)))).containsExactly(0);
        assertThat(positions(request(message(null, 0), message(null, 1)))).containsExactly(0, 1);
        assertThat(this.store.processed).isEmpty();
    }

    @Test
    void ofABatchTheNewOnesEnterOnceAndInOrder() {
        request(message("known", 0));
        ClaimResult result = request(
                message("b", 1),
                message("known", 0),
                message(null, 2),
                message("b", 3),
                message("a", 4),
                message("known", 5));
        assertThat(positions(result)).containsExactly(0, 2, 4);
        assertThat(result.duplicates())
                .extracting(Duplicate::coordinates)
                .containsExactly(coordinates(0), coordinates(3), coordinates(5));
        assertThat(result.duplicates())
                .extracting(Duplicate::kind)
                .containsExactly(DuplicateKind.REDELIVERY, DuplicateKind.REPUBLICATION, DuplicateKind.REPUBLICATION);
    }

    @Test
    void afterADuplicateClaimsAskForOriginalsAtOnceUntilTheNextNewMessage() {
        request(message("a", 0));
        request(message("a", 0));
        assertThat(this.store.answeringClaims).isZero();
        request(message("a", 0));
        request(message("b", 1));
        assertThat(this.store.answeringClaims).isEqualTo(2);
        request(message("c", 2));
        assertThat(this.store.answeringClaims).isEqualTo(2);
    }

    /** As in a topic that was created again. */
    @Test
    void anotherPayloadAtTheSameCoordinatesIsAConflict() {
        request(message("a", 0, 42L));
        ClaimResult result = request(message("a", 0, 43L));
        assertThat(result.duplicates()).extracting(Duplicate::kind).containsExactly(DuplicateKind.REPUBLICATION);
        assertThat(result.conflicts().values())
                .extracting(Conflict::coordinates, Conflict::original)
                .containsExactly(tuple(coordinates(0), coordinates(0)));
    }

    @Test
    void neitherTheSamePayloadNorOneThatIsNotKnownIsAConflict() {
        request(message("a", 0, 42L), message("b", 1));
        assertThat(request(message("a", 0, 42L)).conflicts()).isEmpty();
        assertThat(request(message("a", 0)).conflicts()).isEmpty();
        assertThat(request(message("a", 7, 42L)).conflicts()).isEmpty();
        assertThat(request(message("a", 7)).conflicts()).isEmpty();
        assertThat(request(message("b", 7, 42L)).conflicts()).isEmpty();
    }

    @Test
    void messagesOfOneBatchAreComparedWithEachOther() {
        request(message("known", 0, 1L));
        ClaimResult result = request(
                message("a", 1, 2L),
                message("a", 2, 2L),
                message("known", 3, 1L),
                message("a", 4, 3L),
                message("known", 5, 4L));
        assertThat(positions(result)).containsExactly(0);
        assertThat(result.conflicts().keySet())
                .extracting(InboundMessage::position)
                .containsExactly(3, 4);
        assertThat(result.conflicts().values())
                .extracting(Conflict::original)
                .containsExactly(coordinates(1), coordinates(0));
    }

    @SafeVarargs
    private final ClaimResult request(IntFunction<InboundMessage>... messages) {
        return this.strategy.claim(IntStream.range(0, messages.length)
                .mapToObj(position -> messages[position].apply(position))
                .toList());
    }

    private static List<Integer> positions(ClaimResult result) {
        return result.accepted().stream().map(InboundMessage::position).toList();
    }

    private static IntFunction<InboundMessage> message(@Nullable String id, long offset) {
        return message(id, offset, null);
    }

    private static IntFunction<InboundMessage> message(@Nullable String id, long offset, @Nullable Long digest) {
        return position -> new InboundMessage(
                position,
                new ConsumerRecord<>("topic", 0, offset, null, null),
                (id != null) ? new MessageId("consumer", id) : null,
                coordinates(offset),
                digest,
                null);
    }

    private static RecordCoordinates coordinates(long offset) {
        return new RecordCoordinates("topic", 0, offset);
    }

    private static final class RememberingStore implements ProcessedMessageStore {

        private final Map<MessageId, ProcessedMessage> processed = new HashMap<>();
        private int answeringClaims;

        @Override
        public Set<MessageId> claim(List<Claim> claims) {
            Set<MessageId> claimed = new HashSet<>();
            for (Claim claim : claims) {
                ProcessedMessage message = new ProcessedMessage(
                        claim.id(), claim.coordinates(), Instant.EPOCH, Duration.ofSeconds(1), claim.payloadDigest());
                if (this.processed.putIfAbsent(claim.id(), message) == null) {
                    claimed.add(claim.id());
                }
            }
            return claimed;
        }

        @Override
        public ClaimAnswer claimOrFind(List<Claim> claims) {
            this.answeringClaims++;
            return ProcessedMessageStore.super.claimOrFind(claims);
        }

        @Override
        public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
            Map<MessageId, ProcessedMessage> found = new HashMap<>(this.processed);
            found.keySet().retainAll(ids);
            return found;
        }

        @Override
        public boolean forget(MessageId id) {
            return this.processed.remove(id) != null;
        }
    }
}
