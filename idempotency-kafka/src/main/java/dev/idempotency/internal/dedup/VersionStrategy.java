package dev.idempotency.internal.dedup;

import dev.idempotency.DuplicateKind;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.Stale;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.StoredVersion;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Recognises messages by the version of the entity whose state they carry: each that is newer than all before it may
 * enter. One without an entity enters unclaimed. A version is replaced without a look at it, but read first after one
 * that was not newer, as these seldom come alone.
 */
final class VersionStrategy implements ClaimStrategy {

    private final JdbcVersionStore versions;

    /** A guess, shared by all threads of the consumer: a wrong one costs time only. */
    private volatile boolean refusalsExpected;

    VersionStrategy(JdbcVersionStore versions) {
        this.versions = versions;
    }

    @Override
    public ClaimResult claim(List<InboundMessage> messages) {
        List<VersionClaim> claims = claimsOf(messages);
        Map<MessageId, Newest> newest = new HashMap<>();
        if (!claims.isEmpty()) {
            JdbcVersionStore.Answer answer = StoreExceptionTranslator.attempt(
                    () -> "compare the version of " + claims.get(0).coordinates(), () -> move(claims));
            answer.moved().forEach((entity, before) -> before.map(Newest::of)
                    .ifPresent(previous -> newest.put(entity, previous)));
            answer.held().forEach((entity, held) -> newest.put(entity, Newest.of(held)));
        }
        return judge(messages, newest);
    }

    private JdbcVersionStore.Answer move(List<VersionClaim> claims) {
        if (this.refusalsExpected && claims.size() == 1) {
            StoredVersion held = this.versions.findRefusing(claims.get(0));
            if (held != null) {
                return new JdbcVersionStore.Answer(Map.of(), Map.of(held.entity(), held));
            }
        }
        JdbcVersionStore.Answer answer = this.versions.move(claims);
        this.refusalsExpected = !answer.held().isEmpty();
        return answer;
    }

    /** The newest version of each entity, of several the first. */
    private static List<VersionClaim> claimsOf(List<InboundMessage> messages) {
        Map<MessageId, VersionClaim> newest = new LinkedHashMap<>();
        for (InboundMessage message : messages) {
            VersionClaim claim = message.version();
            if (claim != null) {
                newest.merge(
                        claim.entity(),
                        claim,
                        (former, next) -> (compare(message, next, former.version()) > 0) ? next : former);
            }
        }
        return List.copyOf(newest.values());
    }

    private static ClaimResult judge(List<InboundMessage> messages, Map<MessageId, Newest> newest) {
        List<InboundMessage> accepted = new ArrayList<>(messages.size());
        List<Duplicate> duplicates = new ArrayList<>();
        List<Stale> stale = new ArrayList<>();
        for (InboundMessage message : messages) {
            VersionClaim claimed = message.version();
            if (claimed == null) {
                accepted.add(message);
                continue;
            }
            Newest before = newest.get(claimed.entity());
            int order = (before != null) ? compare(message, claimed, before.version()) : 1;
            if (order > 0) {
                newest.put(claimed.entity(), new Newest(claimed.version(), claimed.coordinates(), null, null));
                accepted.add(message);
            } else if (order == 0) {
                boolean redelivery = before.coordinates().equals(claimed.coordinates());
                duplicates.add(new Duplicate(
                        claimed.messageId(),
                        claimed.coordinates(),
                        redelivery ? DuplicateKind.REDELIVERY : DuplicateKind.REPUBLICATION,
                        before.processedAt(),
                        before.age()));
            } else {
                stale.add(new Stale(
                        claimed.messageId(),
                        claimed.coordinates(),
                        claimed.version().toString(),
                        before.version().toString(),
                        before.processedAt(),
                        before.age()));
            }
        }
        return new ClaimResult(accepted, duplicates, stale, Map.of());
    }

    /** The newest version of an entity before a message: processed, or, without a time, of the same delivery. */
    private record Newest(
            EntityVersion version,
            RecordCoordinates coordinates,
            @Nullable Instant processedAt,
            @Nullable Duration age) {

        static Newest of(StoredVersion stored) {
            return new Newest(stored.version(), stored.coordinates(), stored.processedAt(), stored.age());
        }
    }

    private static int compare(InboundMessage message, VersionClaim claimed, EntityVersion before) {
        if (before.kind() != claimed.version().kind()) {
            RecordCoordinates where = KafkaCoordinates.of(message.record());
            throw new InvalidMessageKeyException(
                    ("The message %s has version %s of entity %s, which had version %s before: a number and a point in time"
                                    + " do not compare. Let all producers give the same kind of version. If the kind has"
                                    + " changed permanently, name the consumer anew, or have the entity forgotten.")
                            .formatted(where, claimed.version(), claimed.entity(), before),
                    null);
        }
        return claimed.version().compareTo(before);
    }
}
