package dev.idempotency.internal.dedup;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognises messages by their ids, which are claimed in the store. One without an id enters unclaimed. A plain claim
 * is faster for new messages; after a duplicate, which seldom comes alone, the next claim looks first.
 */
public final class MessageIdStrategy implements ClaimStrategy {

    private final ProcessedMessageStore store;

    /** A guess, shared by all threads of the consumer: a wrong one costs time only. */
    private volatile boolean duplicatesExpected;

    public MessageIdStrategy(ProcessedMessageStore store) {
        this.store = store;
    }

    @Override
    public ClaimResult claim(List<InboundMessage> messages) {
        boolean single = messages.size() == 1;
        Map<MessageId, InboundMessage> firsts = single ? Map.of() : new HashMap<>(messages.size() * 2);
        List<Claim> claims = new ArrayList<>(messages.size());
        for (InboundMessage message : messages) {
            if (message.id() != null && (single || firsts.putIfAbsent(message.id(), message) == null)) {
                claims.add(new Claim(message.id(), message.coordinates(), message.payloadDigest()));
            }
        }
        ClaimAnswer answer = claims.isEmpty()
                ? new ClaimAnswer(Set.of())
                : StoreExceptionTranslator.attempt(
                        () -> "claim " + claims.get(0).coordinates(), () -> answer(claims));
        if (answer.claimed().size() == messages.size()) {
            return new ClaimResult(messages, List.of());
        }
        return sortOut(messages, firsts, answer);
    }

    private ClaimAnswer answer(List<Claim> claims) {
        ClaimAnswer answer = this.duplicatesExpected
                ? this.store.claimOrFind(claims)
                : new ClaimAnswer(this.store.claim(claims)).complete(claims, this.store::findOriginals);
        this.duplicatesExpected = answer.claimed().size() < claims.size();
        return answer;
    }

    /** Whether the next message is probably a duplicate, as the last one was. */
    boolean expectsDuplicates() {
        return this.duplicatesExpected;
    }

    /** The answer to a message that was processed before, or {@code null} if it was not. */
    @Nullable
    ClaimResult findDuplicate(InboundMessage message) {
        if (message.id() == null) {
            return null;
        }
        Map<MessageId, ProcessedMessage> originals = StoreExceptionTranslator.attempt(
                () -> "look up messages that were processed before", () -> this.store.find(List.of(message.id())));
        if (originals.isEmpty()) {
            return null;
        }
        this.duplicatesExpected = true;
        return sortOut(List.of(message), Map.of(), new ClaimAnswer(Set.of(), originals));
    }

    private static ClaimResult sortOut(
            List<InboundMessage> messages, Map<MessageId, InboundMessage> firsts, ClaimAnswer answer) {
        List<InboundMessage> accepted = new ArrayList<>();
        List<Duplicate> duplicates = new ArrayList<>();
        Map<InboundMessage, Conflict> conflicts = new LinkedHashMap<>();
        for (InboundMessage message : messages) {
            MessageId id = message.id();
            boolean claimed = id != null && answer.claimed().contains(id);
            if (id == null || (claimed && firsts.get(id) == message)) {
                accepted.add(message);
                continue;
            }
            Original original = claimed
                    ? Original.of(Objects.requireNonNull(firsts.get(id)))
                    : Original.of(answer.originals().get(id));
            boolean conflict = original.isContradictedBy(message);
            boolean redelivery = !conflict && message.coordinates().equals(original.coordinates());
            duplicates.add(new Duplicate(
                    id,
                    message.coordinates(),
                    redelivery ? DuplicateKind.REDELIVERY : DuplicateKind.REPUBLICATION,
                    original.processedAt(),
                    original.age()));
            if (conflict) {
                RecordCoordinates where = Objects.requireNonNull(original.coordinates());
                conflicts.put(message, new Conflict(id, message.coordinates(), where, original.processedAt()));
            }
        }
        return new ClaimResult(accepted, duplicates, List.of(), conflicts);
    }

    /** The message that another one is a duplicate of: processed before or, without a time, of the same delivery. */
    private record Original(
            @Nullable RecordCoordinates coordinates,
            @Nullable Long payloadDigest,
            @Nullable Instant processedAt,
            @Nullable Duration age) {

        static Original of(InboundMessage first) {
            return new Original(first.coordinates(), first.payloadDigest(), null, null);
        }

        static Original of(@Nullable ProcessedMessage known) {
            return (known != null)
                    ? new Original(known.coordinates(), known.payloadDigest(), known.processedAt(), known.age())
                    : new Original(null, null, null, null);
        }

        /** A redelivery has the same bytes; another record at its coordinates is of a topic that was created again. */
        boolean isContradictedBy(InboundMessage message) {
            return this.payloadDigest != null
                    && message.payloadDigest() != null
                    && !this.payloadDigest.equals(message.payloadDigest());
        }
    }
}
