package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.observe.Duplicate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Recognises messages by their ids, each of which is claimed in the store. Of several messages with the same id the first
 * one may enter; one without an id enters unclaimed.
 *
 * @param consumer whose messages they are
 * @param store where they are claimed
 */
public record MessageIdStrategy(String consumer, ProcessedMessageStore store) implements AdmissionStrategy {

    @Override
    public Admission admit(List<Candidate> candidates) {
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
        Set<MessageId> claimed = claims.isEmpty() ? Set.of() : this.store.claim(claims);
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
        return new Admission(admitted, duplicates(refused, claimed));
    }

    private List<Duplicate> duplicates(List<Candidate> refused, Set<MessageId> claimed) {
        Set<MessageId> processedBefore = refused.stream()
                .map(Candidate::id)
                .filter(id -> !claimed.contains(id))
                .collect(Collectors.toSet());
        Map<MessageId, ProcessedMessage> originals =
                processedBefore.isEmpty() ? Map.of() : this.store.find(processedBefore);
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

    @Override
    public BooleanSupplier watchTransaction(Admission admission) {
        MessageId claimed = admission.claimed();
        return (claimed != null) ? () -> this.store.holds(claimed) : this.store.watchTransaction(this.consumer);
    }
}
