package dev.idempotency.definition;

import dev.idempotency.MessageId;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.MessageView;
import dev.idempotency.key.VersionResolver;
import dev.idempotency.store.Candidate;
import dev.idempotency.store.EntityVersion;
import java.util.HashSet;
import java.util.Set;

/**
 * Candidates that are recognised by the version of an entity.
 *
 * @param entities who finds the entity, by the key
 * @param versions who finds its version
 */
record VersionCandidates(MessageIdResolver entities, VersionResolver versions) implements CandidateFactory {

    /** A message without a key, where such are processed all the same, is of no entity that could have a version. */
    @Override
    public Candidate create(int position, MessageView message) {
        MessageId entity = this.entities.resolve(message);
        return (entity != null)
                ? new Candidate(position, message.record(), new EntityVersion(entity, this.versions.resolve(message)))
                : new Candidate(position, message.record(), (MessageId) null);
    }

    @Override
    public Set<String> variables() {
        Set<String> variables = new HashSet<>(this.entities.variables());
        variables.addAll(this.versions.variables());
        return variables;
    }
}
