package dev.idempotency.internal.reconciliation;

import dev.idempotency.MessageId;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.job.ConsumerJobs.Control;
import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.job.PartitionReader.Range;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.job.RepublishedHeaders;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.BrokerQueries;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.listener.RecordIdentifier;
import dev.idempotency.internal.redrive.DeadLetterSources;
import dev.idempotency.internal.redrive.OriginalRecords;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationReport.MissingMessage;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Looks at the records of one consumer that its group has committed, a poll at a time, and at what became of each. */
final class ReconciliationRun {

    private static final Logger logger = LoggerFactory.getLogger(ReconciliationRun.class);

    private static final int MISSING_SHOWN = 1_000;

    /** Dead letters are younger than their originals, but clocks differ. */
    private static final Duration CLOCK_SKEW = Duration.ofHours(1);

    private record IdentifiedRecord(ConsumerRecord<byte[], byte[]> record, MessageId id) {}

    private final ReconciliationRequest request;
    private final List<ContainerScope> scopes;
    private final List<ContainerScope> retries;
    private final Instant remembered;
    private final ProcessedMessageStore store;
    private final @Nullable Inbox inbox;
    private final DeadLetterSources deadLetters;
    private final RawRecordProducers producers;

    /** Partitions that were looked at: several containers may share them. */
    private final Set<List<?>> seen = new HashSet<>();

    /** The first offsets that must be remembered, by partition; {@code null} where nothing is. */
    private final Map<String, @Nullable Long> judgedFrom = new TreeMap<>();

    private OriginalRecords retrying = new OriginalRecords();
    private @Nullable OriginalRecords dead;

    private final Instant startedAt = Instant.now();
    private final Map<ReconciliationOutcome, Long> fates = new EnumMap<>(ReconciliationOutcome.class);
    private final List<MissingMessage> missing = new ArrayList<>();
    private @Nullable String firstRefusal;
    private long records;
    private long read;
    private long replayed;
    private long refused;
    private volatile ReconciliationReport progress;

    /** {@code retries} are the containers of retry topics; records older than {@code remembered} may have been forgotten. */
    ReconciliationRun(
            ReconciliationRequest request,
            List<ContainerScope> scopes,
            List<ContainerScope> retries,
            Instant remembered,
            ProcessedMessageStore store,
            @Nullable Inbox inbox,
            DeadLetterSources deadLetters,
            RawRecordProducers producers) {
        this.request = request;
        this.scopes = scopes;
        this.retries = retries;
        this.remembered = remembered;
        this.store = store;
        this.inbox = inbox;
        this.deadLetters = deadLetters;
        this.producers = producers;
        for (ReconciliationOutcome outcome : ReconciliationOutcome.values()) {
            this.fates.put(outcome, 0L);
        }
        this.progress = report(JobState.RUNNING, null);
    }

    /** Looks at all records, and reports how that ended. */
    ReconciliationReport run(Control control) {
        String consumer = this.request.consumer();
        ReconciliationReport report;
        try {
            this.scopes.forEach(scope -> reconcile(scope, control));
            report = report(control.isCancelled() ? JobState.CANCELLED : JobState.COMPLETED, null);
        } catch (RuntimeException | Error ex) {
            // Also errors of deserializers and filters: otherwise the report would stay RUNNING.
            logger.warn("The reconciliation of consumer '{}' failed", consumer, ex);
            boolean explained = ex instanceof OperatorActionException && ex.getCause() == null;
            report = report(
                    JobState.FAILED,
                    explained
                            ? ex.getMessage()
                            : "Not all records of consumer '%s' could be looked at: %s. See that the brokers, the database and whatever its deserializers need can be reached, and start it again."
                                    .formatted(consumer, Causes.of(ex).deepest()));
        }
        long lost = report.count(ReconciliationOutcome.MISSING);
        logger.atLevel((lost > 0) ? Level.WARN : Level.INFO)
                .log(
                        "The reconciliation of consumer '{}' is {}: {} records, {} missing, {} of them sent again",
                        consumer,
                        report.state(),
                        report.read(),
                        lost,
                        report.replayed());
        return report;
    }

    private void reconcile(ContainerScope scope, Control control) {
        Map<String, Optional<Uuid>> topicIds = new HashMap<>();
        BrokerConnection brokers = BrokerConnection.of(scope.container());
        try (PartitionReader reader = scope.open();
                BrokerQueries queries = new BrokerQueries(brokers, "reconciliation");
                RecordIdentifier identifier = new RecordIdentifier(scope.container(), topic -> topicIds.computeIfAbsent(
                                topic, name -> Optional.ofNullable(queries.topicId(name)))
                        .orElse(null))) {
            Map<TopicPartition, Range> committed = scope.records(reader, true);
            committed.keySet().removeIf(partition -> !this.seen.add(List.of(brokers, scope.group(), partition)));
            Map<TopicPartition, Range> wanted = reader.since(Instant.now().minus(this.request.since()), committed);
            judge(reader.since(this.remembered, committed));
            // To be read after it is known what the group has committed.
            this.dead = null;
            this.records += wanted.values().stream().mapToLong(Range::length).sum();
            this.progress = report(JobState.RUNNING, null);
            reader.read(wanted, control::isCancelled, polled -> {
                control.pace(polled.size());
                if (!control.isCancelled()) {
                    reconcile(identifier, polled, brokers, control);
                    this.progress = report(JobState.RUNNING, null);
                }
            });
        }
    }

    /** Records before the first remembered one may have been processed without the library, or under another name. */
    private void judge(Map<TopicPartition, Range> remembered) {
        Map<TopicPartition, Long> first = new HashMap<>();
        this.store
                .firstRecords(this.request.consumer())
                .forEach(record -> first.put(new TopicPartition(record.topic(), record.partition()), record.offset()));
        remembered.forEach((partition, range) -> {
            Long from = first.get(partition);
            this.judgedFrom.put(partition.toString(), (from != null) ? Math.max(from, range.from()) : null);
        });
    }

    private boolean isJudged(ConsumerRecord<?, ?> record) {
        Long from = this.judgedFrom.get(new TopicPartition(record.topic(), record.partition()).toString());
        return from != null && record.offset() >= from;
    }

    private void reconcile(
            RecordIdentifier identifier,
            List<ConsumerRecord<byte[], byte[]>> polled,
            BrokerConnection brokers,
            Control control) {
        List<IdentifiedRecord> candidates = new ArrayList<>(polled.size());
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            RecordIdentifier.Identification identification = identifier.identify(record);
            MessageId messageId = identification.id();
            if (messageId == null) {
                found(fateOf(identification.kind(), record, control));
            } else {
                candidates.add(new IdentifiedRecord(record, messageId));
            }
        }
        List<IdentifiedRecord> open = withoutProcessed(candidates);
        open.removeIf(candidate -> {
            ReconciliationOutcome outcome = findElsewhere(candidate.record(), control);
            if (outcome != null) {
                found(outcome);
            }
            return outcome != null;
        });
        if (control.isCancelled()) {
            // Perhaps before all retry and dead-letter topics were read.
            return;
        }
        // They may have been processed while the other topics were read.
        open = withoutProcessed(open);
        Map<MessageId, InboxStatus> known = (this.inbox == null) ? Map.of() : this.inbox.statuses(idsOf(open));
        for (IdentifiedRecord candidate : open) {
            ConsumerRecord<byte[], byte[]> record = candidate.record();
            InboxStatus status = known.get(candidate.id());
            if (status != null) {
                found(
                        (status == InboxStatus.PROCESSED)
                                ? ReconciliationOutcome.PROCESSED
                                : ReconciliationOutcome.FAILED);
            } else if (!isJudged(record)) {
                found(ReconciliationOutcome.NOT_JUDGED);
            } else {
                found(ReconciliationOutcome.MISSING);
                if (this.missing.size() < MISSING_SHOWN) {
                    this.missing.add(new MissingMessage(
                            KafkaCoordinates.of(record), candidate.id().value()));
                }
                replay(record, brokers);
            }
        }
    }

    private ReconciliationOutcome fateOf(RecordIdentifier.Kind kind, ConsumerRecord<?, ?> record, Control control) {
        if (kind == RecordIdentifier.Kind.FILTERED) {
            return ReconciliationOutcome.FILTERED;
        }
        ReconciliationOutcome otherwise = (kind == RecordIdentifier.Kind.UNREADABLE)
                ? ReconciliationOutcome.UNREADABLE
                : ReconciliationOutcome.WITHOUT_KEY;
        return Objects.requireNonNullElse(findElsewhere(record, control), otherwise);
    }

    /**
     * Looks for a record in the retry and dead-letter topics, which are read when the first one is looked for. Messages travel
     * in that order, so that one that travels meanwhile is seen at least once, or has been processed by then.
     */
    private @Nullable ReconciliationOutcome findElsewhere(ConsumerRecord<?, ?> record, Control control) {
        OriginalRecords died = this.dead;
        if (died == null) {
            OriginalRecords waiting = new OriginalRecords();
            for (ContainerScope retry : this.retries) {
                try (PartitionReader reader = retry.open()) {
                    reader.read(
                            retry.records(reader, false),
                            control::isCancelled,
                            copies -> copies.forEach(waiting::addOriginalOf));
                }
            }
            this.retrying = waiting;
            Instant since = this.startedAt.minus(this.request.since()).minus(CLOCK_SKEW);
            died = this.deadLetters.originalsSince(this.request.consumer(), since, control::isCancelled);
            this.dead = died;
        }
        if (died.contains(record)) {
            return ReconciliationOutcome.DEAD_LETTERED;
        }
        return this.retrying.contains(record) ? ReconciliationOutcome.RETRYING : null;
    }

    /** Counts those that are remembered, and returns the others. */
    private List<IdentifiedRecord> withoutProcessed(List<IdentifiedRecord> candidates) {
        List<IdentifiedRecord> open = new ArrayList<>();
        if (candidates.isEmpty()) {
            return open;
        }
        Map<MessageId, ProcessedMessage> processed = this.store.find(idsOf(candidates));
        for (IdentifiedRecord candidate : candidates) {
            ProcessedMessage message = processed.get(candidate.id());
            if (message == null) {
                open.add(candidate);
            } else {
                boolean itself = message.coordinates().equals(KafkaCoordinates.of(candidate.record()));
                found(itself ? ReconciliationOutcome.PROCESSED : ReconciliationOutcome.DUPLICATE);
            }
        }
        return open;
    }

    private static Set<MessageId> idsOf(List<IdentifiedRecord> candidates) {
        return candidates.stream().map(IdentifiedRecord::id).collect(Collectors.toSet());
    }

    private void replay(ConsumerRecord<byte[], byte[]> record, BrokerConnection brokers) {
        Instant from = this.request.replayFrom();
        if (from == null || record.timestamp() < from.toEpochMilli()) {
            return;
        }
        RecordCoordinates place = KafkaCoordinates.of(record);
        try {
            this.producers.send(
                    brokers,
                    place,
                    record.key(),
                    record.value(),
                    RepublishedHeaders.of(record.headers(), KafkaCoordinates.original(record), name -> false));
        } catch (OperatorActionException ex) {
            if (!RawRecordProducers.isRefusal(ex)) {
                throw ex;
            }
            this.refused++;
            this.firstRefusal = (this.firstRefusal != null) ? this.firstRefusal : place + " " + ex.getMessage();
            return;
        }
        logger.info("Sent {} of consumer '{}' again, as nothing is known of it", place, this.request.consumer());
        this.replayed++;
    }

    private void found(ReconciliationOutcome outcome) {
        this.read++;
        this.fates.merge(outcome, 1L, Long::sum);
    }

    /** How far it has come; for any thread. */
    ReconciliationReport progress() {
        return this.progress;
    }

    private ReconciliationReport report(JobState state, @Nullable String failure) {
        double share = (this.records > 0) ? Math.min(1, (double) this.read / this.records) : 0;
        return new ReconciliationReport(
                this.request.consumer(),
                this.request.since(),
                this.request.replayFrom(),
                state,
                this.startedAt,
                Duration.between(this.startedAt, Instant.now()),
                this.records,
                (state == JobState.COMPLETED) ? 1 : share,
                this.read,
                new EnumMap<>(this.fates),
                new TreeMap<>(this.judgedFrom),
                List.copyOf(this.missing),
                this.replayed,
                this.refused,
                (failure != null) ? failure : this.firstRefusal);
    }
}
