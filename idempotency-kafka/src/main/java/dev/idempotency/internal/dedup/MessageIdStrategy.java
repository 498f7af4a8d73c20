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
        Map<MessageId, InboundMessage> firsts = new HashMap<>(messages.size() * 2);
        List<Claim> claims = new ArrayList<>(messages.size());
        for (InboundMessage message : messages) {
            if (message.id() != null && firsts.putIfAbsent(message.id(), message) == null) {
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
        boolean duplicates = answer.claimed().size() < claims.size();
        if (this.duplicatesExpected != duplicates) {
            this.duplicatesExpected = duplicates;
        }
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
            duplicates.add(original.duplicate(message, id));
            if (original.isContradictedBy(message)) {
                conflicts.put(message, original.conflict(message, id));
            }
        }
        return new ClaimResult(accepted, duplicates, List.of(), conflicts);
    }

    /** The message that another one is a duplicate of. */
    private record Original(
            @Nullable ProcessedMessage processed,
            @Nullable RecordCoordinates coordinates,
            @Nullable Long payloadDigest) {

        static Original of(InboundMessage first) {
            return new Original(null, first.coordinates(), first.payloadDigest());
        }

        static Original of(@Nullable ProcessedMessage processed) {
            return (processed != null)
                    ? new Original(processed, processed.coordinates(), processed.payloadDigest())
                    : new Original(null, null, null);
        }

        Duplicate duplicate(InboundMessage message, MessageId id) {
            if (this.processed == null) {
                return new Duplicate(id, message.coordinates(), DuplicateKind.REPUBLICATION, null, null);
            }
            boolean same = this.processed.coordinates().equals(message.coordinates()) && !isContradictedBy(message);
            DuplicateKind kind = same ? DuplicateKind.REDELIVERY : DuplicateKind.REPUBLICATION;
            return new Duplicate(id, message.coordinates(), kind, this.processed.processedAt(), this.processed.age());
        }

        /** A redelivery has the same bytes; another record at its coordinates is of a topic that was created again. */
        boolean isContradictedBy(InboundMessage message) {
            return this.payloadDigest != null
                    && message.payloadDigest() != null
                    && !this.payloadDigest.equals(message.payloadDigest());
        }

        Conflict conflict(InboundMessage message, MessageId id) {
            Instant processedAt = (this.processed != null) ? this.processed.processedAt() : null;
            return new Conflict(id, message.coordinates(), Objects.requireNonNull(this.coordinates), processedAt);
        }
    }
}
