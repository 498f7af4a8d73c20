package dev.idempotency.listener;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Who may enter: the answer to a claim, as a value.
 *
 * @param admitted the messages that the listener is called with, in order
 * @param duplicates those that it is not called with
 */
record Admission(List<Candidate> admitted, List<Duplicate> duplicates) {

    boolean isEmpty() {
        return this.admitted.isEmpty();
    }

    /** The ids of the messages that the listener is called with, in order; {@code null} for one that has none. */
    List<@Nullable MessageId> ids() {
        return this.admitted.stream().<@Nullable MessageId>map(Candidate::id).toList();
    }

    /** One of the messages that were claimed, which stands for all; {@code null} if none has an id. */
    @Nullable
    MessageId claimed() {
        return this.admitted.stream()
                .map(Candidate::id)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Claims the candidates. Of several with the same id the first one is claimed, and the others are duplicates. */
    static Admission request(List<Candidate> candidates, ProcessedMessageStore store) {
        Set<MessageId> ids = new HashSet<>(candidates.size() * 2);
        List<Candidate> firsts = new ArrayList<>(candidates.size());
        List<Claim> claims = new ArrayList<>(candidates.size());
        for (Candidate candidate : candidates) {
            if (candidate.id() == null) {
                firsts.add(candidate);
            } else if (ids.add(candidate.id())) {
                firsts.add(candidate);
                claims.add(new Claim(candidate.id(), candidate.coordinates()));
            }
        }
        Set<MessageId> claimed = claims.isEmpty() ? Set.of() : store.claim(claims);
        List<Candidate> admitted = (claimed.size() == claims.size())
                ? firsts
                : firsts.stream()
                        .filter(candidate -> candidate.id() == null || claimed.contains(candidate.id()))
                        .toList();
        if (admitted.size() == candidates.size()) {
            return new Admission(candidates, List.of());
        }
        List<Candidate> refused = new ArrayList<>(candidates);
        refused.removeAll(new HashSet<>(admitted));
        return new Admission(admitted, duplicates(refused, claimed, store));
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
