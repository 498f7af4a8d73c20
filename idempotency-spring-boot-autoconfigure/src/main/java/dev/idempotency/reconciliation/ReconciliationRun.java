package dev.idempotency.reconciliation;

import dev.idempotency.MessageId;
import dev.idempotency.ReconciliationException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.Causes;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.job.JobControl;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.kafka.RepublishedHeaders;
import dev.idempotency.listener.RecordIdentification;
import dev.idempotency.listener.RecordIdentifier;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at the records of one consumer that its group has committed, a poll at a time, and at what became of each. */
final class ReconciliationRun {

    private static final Logger logger = LoggerFactory.getLogger(ReconciliationRun.class);

    private record Candidate(ConsumerRecord<byte[], byte[]> record, RecordCoordinates original, MessageId id) {}

    private record Seen(BrokerConnection brokers, String group, TopicPartition partition) {}

    private final ReconciliationRequest request;
    private final ReconciliationProgress progress;
    private final JobControl control;
    private final List<ContainerScope> scopes;
    private final Supplier<OtherWhereabouts> newWhereabouts;
    private final Instant remembered;
    private final ProcessedMessageStore store;
    private final Function<Collection<MessageId>, Map<MessageId, InboxStatus>> inbox;
    private final RawRecordProducers producers;

    /** What has been looked at: several containers may share it. */
    private final Set<Seen> seen = new HashSet<>();

    /** The first offsets that must be remembered, by partition, of the container that is being looked at. */
    private final Map<TopicPartition, Long> judgedFrom = new HashMap<>();

    /** To be looked for after it is known what its group has committed. */
    private OtherWhereabouts elsewhere;

    /**
     * Looks at nothing yet.
     *
     * @param scopes the consumer's containers, without those of retry topics
     * @param newWhereabouts where else the messages of a container may be, from now on
     * @param remembered what came before this may have been forgotten
     * @param inbox what became of messages, as far as it knows them
     */
    ReconciliationRun(
            ReconciliationRequest request,
            ReconciliationProgress progress,
            JobControl control,
            List<ContainerScope> scopes,
            Supplier<OtherWhereabouts> newWhereabouts,
            Instant remembered,
            ProcessedMessageStore store,
            Function<Collection<MessageId>, Map<MessageId, InboxStatus>> inbox,
            RawRecordProducers producers) {
        this.request = request;
        this.progress = progress;
        this.control = control;
        this.scopes = scopes;
        this.newWhereabouts = newWhereabouts;
        this.elsewhere = newWhereabouts.get();
        this.remembered = remembered;
        this.store = store;
        this.inbox = inbox;
        this.producers = producers;
    }

    /** Looks at all of them, and says how that ended. */
    ReconciliationReport run() {
        ReconciliationReport report = look();
        log(report);
        return report;
    }

    private ReconciliationReport look() {
        try {
            this.scopes.forEach(this::reconcile);
            return this.progress.conclude(this.control.isCancelled() ? State.CANCELLED : State.COMPLETED, null);
        } catch (RuntimeException | Error ex) {
            // Errors, too, of deserializers and filters: it must not seem to run for ever.
            logger.warn("The reconciliation of consumer '{}' failed", this.request.consumer(), ex);
            boolean refused = ex instanceof ReconciliationException && ex.getCause() == null;
            return this.progress.conclude(
                    State.FAILED,
                    refused
                            ? ex.getMessage()
                            : "Not all records of consumer '%s' could be looked at: %s. See that the brokers, the database and whatever its deserializers need can be reached, and start it again."
                                    .formatted(
                                            this.request.consumer(),
                                            Causes.of(ex).deepest()));
        }
    }

    private static void log(ReconciliationReport report) {
        if (report.count(RecordFate.MISSING) > 0) {
            logger.warn(
                    "Consumer '{}' has committed {} messages of {} of which nothing is known, such as {}; {} were sent"
                            + " again",
                    report.consumer(),
                    report.count(RecordFate.MISSING),
                    report.read(),
                    report.missing().get(0).record(),
                    report.replayed());
        } else if (report.state() != State.FAILED) {
            logger.info(
                    "The reconciliation of consumer '{}' is {}: {} records, none missing",
                    report.consumer(),
                    report.state(),
                    report.read());
        }
    }

    private void reconcile(ContainerScope scope) {
        Map<String, Uuid> topicIds = new HashMap<>();
        try (PartitionReader reader = scope.open();
                BrokerQueries queries = new BrokerQueries(BrokerConnection.of(scope.container()), "reconciliation");
                RecordIdentifier identifier = new RecordIdentifier(scope.container(), topic -> {
                    if (!topicIds.containsKey(topic)) {
                        topicIds.put(topic, queries.topicId(topic));
                    }
                    return topicIds.get(topic);
                })) {
            Map<TopicPartition, Range> committed = scope.committed(reader);
            BrokerConnection brokers = BrokerConnection.of(scope.container());
            committed.keySet().removeIf(partition -> !this.seen.add(new Seen(brokers, scope.group(), partition)));
            Map<TopicPartition, Range> wanted = reader.since(Instant.now().minus(this.request.since()), committed);
            judge(reader.since(this.remembered, committed));
            this.elsewhere = this.newWhereabouts.get();
            this.progress.expect(
                    wanted.values().stream().mapToLong(Range::length).sum());
            Map<TopicPartition, Long> next = new HashMap<>();
            wanted.forEach((partition, range) -> next.put(partition, range.from()));
            reader.read(wanted, this.control::isCancelled, records -> {
                this.control.pace(records.size());
                if (!this.control.isCancelled()) {
                    reconcile(identifier, records, brokers);
                    records.forEach(record -> pass(next, partitionOf(record), record.offset() + 1));
                }
            });
            if (!this.control.isCancelled()) {
                wanted.forEach((partition, range) -> pass(next, partition, range.to()));
            }
        }
    }

    /** Records before the first one that is remembered may have been processed without the library, or under another name. */
    private void judge(Map<TopicPartition, Range> remembered) {
        Map<TopicPartition, Long> first = new HashMap<>();
        this.store
                .firstRecords(this.request.consumer())
                .forEach(record -> first.put(new TopicPartition(record.topic(), record.partition()), record.offset()));
        this.judgedFrom.clear();
        remembered.forEach((partition, range) -> {
            Long from = first.get(partition);
            if (from != null) {
                this.judgedFrom.put(partition, Math.max(from, range.from()));
            }
            this.progress.judge(partition, this.judgedFrom.get(partition));
        });
    }

    private void pass(Map<TopicPartition, Long> next, TopicPartition partition, long to) {
        Long from = next.put(partition, to);
        this.progress.passed(to - Objects.requireNonNull(from));
    }

    private static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    private void reconcile(
            RecordIdentifier identifier, List<ConsumerRecord<byte[], byte[]>> records, BrokerConnection brokers) {
        List<Candidate> candidates = new ArrayList<>(records.size());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            RecordIdentification identification = identifier.identify(record);
            MessageId id = identification.id();
            if (id == null) {
                this.progress.found(fateOf(identification, record));
            } else {
                candidates.add(new Candidate(record, RecordCoordinates.original(record), id));
            }
        }
        List<Candidate> open = withoutProcessed(candidates);
        if (open.isEmpty()) {
            return;
        }
        open.removeIf(candidate -> settled(this.elsewhere.find(candidate.record())));
        if (this.control.isCancelled()) {
            // Perhaps while the other places were looked at: what was not found there may be there all the same.
            return;
        }
        // Asked once more, as they may have been processed while the other places were looked at.
        open = withoutProcessed(open);
        Map<MessageId, InboxStatus> known = open.isEmpty() ? Map.of() : this.inbox.apply(idsOf(open));
        for (Candidate candidate : open) {
            InboxStatus status = known.get(candidate.id());
            if (status != null) {
                this.progress.found((status == InboxStatus.PROCESSED) ? RecordFate.PROCESSED : RecordFate.FAILED);
            } else if (!isJudged(candidate.record())) {
                this.progress.found(RecordFate.NOT_JUDGED);
            } else {
                miss(candidate, brokers);
            }
        }
    }

    private RecordFate fateOf(RecordIdentification identification, ConsumerRecord<?, ?> record) {
        if (identification.kind() == RecordIdentification.Kind.FILTERED) {
            return RecordFate.FILTERED;
        }
        RecordFate found = this.elsewhere.find(record);
        if (found != null) {
            return found;
        }
        return (identification.kind() == RecordIdentification.Kind.UNREADABLE)
                ? RecordFate.UNREADABLE
                : RecordFate.WITHOUT_KEY;
    }

    private boolean settled(@Nullable RecordFate fate) {
        if (fate != null) {
            this.progress.found(fate);
        }
        return fate != null;
    }

    /** Counts those that are remembered, and returns the others. */
    private List<Candidate> withoutProcessed(List<Candidate> candidates) {
        List<Candidate> open = new ArrayList<>();
        if (candidates.isEmpty()) {
            return open;
        }
        Map<MessageId, ProcessedMessage> processed = this.store.find(idsOf(candidates));
        for (Candidate candidate : candidates) {
            ProcessedMessage message = processed.get(candidate.id());
            if (message == null) {
                open.add(candidate);
            } else {
                boolean itself = message.coordinates().equals(RecordCoordinates.of(candidate.record()));
                this.progress.found(itself ? RecordFate.PROCESSED : RecordFate.DUPLICATE);
            }
        }
        return open;
    }

    private static Set<MessageId> idsOf(List<Candidate> candidates) {
        return candidates.stream().map(Candidate::id).collect(Collectors.toSet());
    }

    private boolean isJudged(ConsumerRecord<?, ?> record) {
        return record.offset() >= this.judgedFrom.getOrDefault(partitionOf(record), Long.MAX_VALUE);
    }

    private void miss(Candidate candidate, BrokerConnection brokers) {
        ConsumerRecord<byte[], byte[]> record = candidate.record();
        RecordCoordinates place = RecordCoordinates.of(record);
        this.progress.missing(new MissingMessage(place, candidate.id().value()));
        Instant from = this.request.replayFrom();
        if (from == null || record.timestamp() < from.toEpochMilli()) {
            return;
        }
        try {
            this.producers.send(
                    brokers,
                    new ProducerRecord<>(
                            record.topic(),
                            record.partition(),
                            record.key(),
                            record.value(),
                            RepublishedHeaders.of(record.headers(), candidate.original())));
            this.progress.replayed();
            logger.info("Sent {} of consumer '{}' again, as nothing is known of it", place, this.request.consumer());
        } catch (Exception ex) {
            if (ex instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (!RawRecordProducers.isRefusal(ex)) {
                throw new ReconciliationException(
                        "%s could not be sent again: %s"
                                .formatted(place, Causes.of(ex).deepest()),
                        ex);
            }
            this.progress.refused("%s could not be sent again: %s"
                    .formatted(place, Causes.of(ex).deepest()));
        }
    }
}
