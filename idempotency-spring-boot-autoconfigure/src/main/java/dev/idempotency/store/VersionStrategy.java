package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.MixedVersionsException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import dev.idempotency.database.StoredVersion;
import dev.idempotency.database.VersionClaim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Recognises messages by the version of the entity whose state they carry: each that is newer than all before it may enter,
 * in the order in which they come. One without an entity enters unclaimed.
 *
 * <p>A version is moved on at once, without a look at it. As those that are not newer seldom come alone, it is read first
 * after one: that needs no lock, nor is anything written that the commit would have to wait for.
 */
final class VersionStrategy implements AdmissionStrategy {

    private final JdbcVersionStore versions;

    /** Of all threads of the consumer: whoever is wrong about it is slower, and that is all. */
    private volatile boolean refusalsExpected;

    VersionStrategy(JdbcVersionStore versions) {
        this.versions = versions;
    }

    @Override
    public Admission admit(List<Candidate> candidates) {
        List<VersionClaim> claims = claimsOf(candidates);
        JdbcVersionStore.Answer answer = claims.isEmpty()
                ? new JdbcVersionStore.Answer(Map.of(), Map.of())
                : StoreExceptionTranslator.attempt(
                        () -> "compare the version of " + claims.get(0).coordinates(), () -> move(claims));
        Map<MessageId, NewestVersion> newest = new HashMap<>();
        answer.moved().forEach((entity, before) -> before.map(NewestVersion::of)
                .ifPresent(previous -> newest.put(entity, previous)));
        answer.held().forEach((entity, held) -> newest.put(entity, NewestVersion.of(held)));
        return judge(candidates, newest);
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
    private static List<VersionClaim> claimsOf(List<Candidate> candidates) {
        Map<MessageId, Candidate> newest = new LinkedHashMap<>();
        Map<MessageId, Integer> counts = new HashMap<>();
        for (Candidate candidate : candidates) {
            EntityVersion claimed = candidate.version();
            if (claimed != null) {
                counts.merge(claimed.entity(), 1, Integer::sum);
                newest.merge(claimed.entity(), candidate, VersionStrategy::newer);
            }
        }
        List<VersionClaim> claims = new ArrayList<>(newest.size());
        newest.forEach((entity, candidate) -> claims.add(claim(candidate, counts.get(entity) > 1)));
        return claims;
    }

    private static Candidate newer(Candidate former, Candidate candidate) {
        return (versionOf(candidate).compareTo(comparable(versionOf(former), candidate)) > 0) ? candidate : former;
    }

    private static VersionClaim claim(Candidate candidate, boolean oneOfSeveral) {
        EntityVersion claimed = entityVersionOf(candidate);
        return new VersionClaim(claimed.entity(), claimed.version(), candidate.coordinates(), oneOfSeveral);
    }

    private static Admission judge(List<Candidate> candidates, Map<MessageId, NewestVersion> newest) {
        Admission.Builder admission = new Admission.Builder(candidates.size());
        for (Candidate candidate : candidates) {
            EntityVersion claimed = candidate.version();
            if (claimed == null) {
                admission.admit(candidate);
                continue;
            }
            NewestVersion before = newest.get(claimed.entity());
            int order = (before != null) ? claimed.version().compareTo(comparable(before.version(), candidate)) : 1;
            if (order > 0) {
                newest.put(claimed.entity(), NewestVersion.of(candidate, claimed));
                admission.admit(candidate);
            } else if (order == 0) {
                admission.duplicate(before.duplicate(candidate, claimed));
            } else {
                admission.stale(before.stale(candidate, claimed));
            }
        }
        return admission.build();
    }

    /** The version before, which has to be of the kind of the candidate's. */
    private static Version comparable(Version before, Candidate candidate) {
        EntityVersion claimed = entityVersionOf(candidate);
        if (before.kind() != claimed.version().kind()) {
            RecordCoordinates where = RecordCoordinates.of(candidate.record());
            throw new MixedVersionsException(
                    ("The message %s has version %s of entity %s, which had version %s before: a number and a point in time"
                                    + " do not compare. Let all producers give the same kind of version. If the kind has"
                                    + " changed for good, name the consumer anew, or have the entity forgotten.")
                            .formatted(where, claimed.version(), claimed.entity(), before),
                    where);
        }
        return before;
    }

    private static Version versionOf(Candidate candidate) {
        return entityVersionOf(candidate).version();
    }

    private static EntityVersion entityVersionOf(Candidate candidate) {
        EntityVersion claimed = candidate.version();
        if (claimed == null) {
            throw new IllegalArgumentException("It has no version: " + candidate);
        }
        return claimed;
    }
}
