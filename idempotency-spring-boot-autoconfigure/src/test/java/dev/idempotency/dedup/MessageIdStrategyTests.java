package dev.idempotency.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.Duplicate;
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
        assertThat(positions(request(candidate(null, 0)))).containsExactly(0);
        assertThat(positions(request(candidate(null, 0), candidate(null, 1)))).containsExactly(0, 1);
        assertThat(this.store.processed).isEmpty();
    }

    @Test
    void ofABatchTheNewOnesEnterOnceAndInOrder() {
        request(candidate("known", 0));
        ClaimResult admission = request(
                candidate("b", 1),
                candidate("known", 0),
                candidate(null, 2),
                candidate("b", 3),
                candidate("a", 4),
                candidate("known", 5));
        assertThat(positions(admission)).containsExactly(0, 2, 4);
        assertThat(admission.duplicates())
                .extracting(Duplicate::coordinates)
                .containsExactly(coordinates(0), coordinates(3), coordinates(5));
        assertThat(admission.duplicates())
                .extracting(Duplicate::kind)
                .containsExactly(DuplicateKind.REDELIVERY, DuplicateKind.REPUBLICATION, DuplicateKind.REPUBLICATION);
    }

    @Test
    void afterADuplicateClaimsAskForOriginalsAtOnceUntilTheNextNewMessage() {
        request(candidate("a", 0));
        request(candidate("a", 0));
        assertThat(this.store.answeringClaims).isZero();
        request(candidate("a", 0));
        request(candidate("b", 1));
        assertThat(this.store.answeringClaims).isEqualTo(2);
        request(candidate("c", 2));
        assertThat(this.store.answeringClaims).isEqualTo(2);
    }

    /** As in a topic that was created again. */
    @Test
    void anotherPayloadAtTheSameCoordinatesIsAConflict() {
        request(candidate("a", 0, 42L));
        ClaimResult admission = request(candidate("a", 0, 43L));
        assertThat(admission.duplicates()).extracting(Duplicate::kind).containsExactly(DuplicateKind.REPUBLICATION);
        assertThat(admission.conflicts().values())
                .extracting(Conflict::coordinates, Conflict::original)
                .containsExactly(tuple(coordinates(0), coordinates(0)));
    }

    @Test
    void neitherTheSamePayloadNorOneThatIsNotKnownIsAConflict() {
        request(candidate("a", 0, 42L), candidate("b", 1));
        assertThat(request(candidate("a", 0, 42L)).conflicts()).isEmpty();
        assertThat(request(candidate("a", 0)).conflicts()).isEmpty();
        assertThat(request(candidate("a", 7, 42L)).conflicts()).isEmpty();
        assertThat(request(candidate("a", 7)).conflicts()).isEmpty();
        assertThat(request(candidate("b", 7, 42L)).conflicts()).isEmpty();
    }

    @Test
    void messagesOfOneBatchAreComparedWithEachOther() {
        request(candidate("known", 0, 1L));
        ClaimResult admission = request(
                candidate("a", 1, 2L),
                candidate("a", 2, 2L),
                candidate("known", 3, 1L),
                candidate("a", 4, 3L),
                candidate("known", 5, 4L));
        assertThat(positions(admission)).containsExactly(0);
        assertThat(admission.conflicts().keySet())
                .extracting(InboundMessage::position)
                .containsExactly(3, 4);
        assertThat(admission.conflicts().values())
                .extracting(Conflict::original)
                .containsExactly(coordinates(1), coordinates(0));
    }

    @SafeVarargs
    private final ClaimResult request(IntFunction<InboundMessage>... candidates) {
        return this.strategy.admit(IntStream.range(0, candidates.length)
                .mapToObj(position -> candidates[position].apply(position))
                .toList());
    }

    private static List<Integer> positions(ClaimResult admission) {
        return admission.admitted().stream().map(InboundMessage::position).toList();
    }

    private static IntFunction<InboundMessage> candidate(@Nullable String id, long offset) {
        return candidate(id, offset, null);
    }

    private static IntFunction<InboundMessage> candidate(@Nullable String id, long offset, @Nullable Long digest) {
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
