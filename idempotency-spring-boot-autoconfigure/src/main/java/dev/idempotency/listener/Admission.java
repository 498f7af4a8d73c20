package dev.idempotency.listener;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.Claim;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Who may enter: the answer to a claim, as a value.
 *
 * @param positions positions of the messages that the listener is called with, in order
 * @param duplicates those that it is not called with
 */
record Admission(int[] positions, List<Duplicate> duplicates) {

    /** One message and what is known of it before the claim; without an id it enters unclaimed. */
    record Candidate(@Nullable MessageId id, RecordCoordinates coordinates) {}

    boolean isEmpty() {
        return this.positions.length == 0;
    }

    /** Claims the candidates. Of several with the same id the first one is claimed, and the others are duplicates. */
    static Admission request(List<Candidate> candidates, ProcessedMessageStore store) {
        Map<MessageId, Integer> firstPositions = new HashMap<>();
        List<Claim> claims = new ArrayList<>(candidates.size());
        for (int i = 0; i < candidates.size(); i++) {
            Candidate candidate = candidates.get(i);
            if (candidate.id() != null && firstPositions.putIfAbsent(candidate.id(), i) == null) {
                claims.add(new Claim(candidate.id(), candidate.coordinates()));
            }
        }
        Set<MessageId> claimed = claims.isEmpty() ? Set.of() : store.claim(claims);
        List<Integer> entering = new ArrayList<>(candidates.size());
        List<Integer> refused = new ArrayList<>();
        for (int i = 0; i < candidates.size(); i++) {
            MessageId id = candidates.get(i).id();
            boolean enters = id == null || (claimed.contains(id) && firstPositions.get(id) == i);
            (enters ? entering : refused).add(i);
        }
        return new Admission(
                entering.stream().mapToInt(Integer::intValue).toArray(),
                refused.isEmpty() ? List.of() : duplicates(candidates, refused, firstPositions, claimed, store));
    }

    private static List<Duplicate> duplicates(
            List<Candidate> candidates,
            List<Integer> refused,
            Map<MessageId, Integer> firstPositions,
            Set<MessageId> claimed,
            ProcessedMessageStore store) {
        Set<MessageId> processedBefore = firstPositions.keySet().stream()
                .filter(id -> !claimed.contains(id))
                .collect(Collectors.toSet());
        Map<MessageId, ProcessedMessage> originals = processedBefore.isEmpty() ? Map.of() : store.find(processedBefore);
        return refused.stream()
                .map(candidates::get)
                .map(candidate -> duplicate(candidate, originals.get(candidate.id())))
                .toList();
    }

    private static Duplicate duplicate(Candidate candidate, @Nullable ProcessedMessage original) {
        MessageId id = Objects.requireNonNull(candidate.id());
        if (original == null) {
            return new Duplicate(id, candidate.coordinates(), DuplicateKind.REPUBLICATION, null, null);
        }
        DuplicateKind kind = original.coordinates().equals(candidate.coordinates())
                ? DuplicateKind.REDELIVERY
                : DuplicateKind.REPUBLICATION;
        return new Duplicate(id, candidate.coordinates(), kind, original.processedAt(), original.age());
    }
}
