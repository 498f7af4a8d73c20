package dev.idempotency.listener;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
        return (candidates.size() == 1) ? requestOne(candidates.get(0), store) : requestMany(candidates, store);
    }

    private static Admission requestOne(Candidate candidate, ProcessedMessageStore store) {
        MessageId id = candidate.id();
        if (id == null
                || !store.claim(List.of(new Claim(id, candidate.coordinates()))).isEmpty()) {
            return new Admission(new int[] {0}, List.of());
        }
        return new Admission(new int[0], duplicates(List.of(candidate), Set.of(), store));
    }

    private static Admission requestMany(List<Candidate> candidates, ProcessedMessageStore store) {
        int size = candidates.size();
        Set<MessageId> ids = new HashSet<>(size * 2);
        BitSet mayEnter = new BitSet(size);
        List<Claim> claims = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            Candidate candidate = candidates.get(i);
            if (candidate.id() == null) {
                mayEnter.set(i);
            } else if (ids.add(candidate.id())) {
                mayEnter.set(i);
                claims.add(new Claim(candidate.id(), candidate.coordinates()));
            }
        }
        Set<MessageId> claimed = claims.isEmpty() ? Set.of() : store.claim(claims);
        if (claimed.size() < claims.size()) {
            for (int i = mayEnter.nextSetBit(0); i >= 0; i = mayEnter.nextSetBit(i + 1)) {
                MessageId id = candidates.get(i).id();
                mayEnter.set(i, id == null || claimed.contains(id));
            }
        }
        int[] positions = mayEnter.stream().toArray();
        if (positions.length == size) {
            return new Admission(positions, List.of());
        }
        List<Candidate> refused = IntStream.range(0, size)
                .filter(i -> !mayEnter.get(i))
                .mapToObj(candidates::get)
                .toList();
        return new Admission(positions, duplicates(refused, claimed, store));
    }

    private static List<Duplicate> duplicates(
            List<Candidate> refused, Set<MessageId> claimed, ProcessedMessageStore store) {
        Set<MessageId> processedBefore = refused.stream()
                .map(Candidate::id)
                .filter(id -> !claimed.contains(id))
                .collect(Collectors.toSet());
        Map<MessageId, ProcessedMessage> originals = processedBefore.isEmpty() ? Map.of() : store.find(processedBefore);
        return refused.stream()
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
