package dev.idempotency.actuate;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.StoredVersion;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Actuator endpoint: consumers, what became of their messages, and single messages. Messages and positions can be
 * forgotten, and steps settled, once {@code management.endpoint.idempotency.access} is {@code unrestricted}. Names and ids are parameters:
 * web servers refuse or change some characters in paths.
 */
@RegisterReflectionForBinding({
    ConsumerReports.Report.class,
    ConsumerReports.ConsumerReport.class,
    IdempotencyEndpoint.MessageReport.class
})
@Endpoint(id = "idempotency", defaultAccess = Access.READ_ONLY)
public record IdempotencyEndpoint(
        ConsumerReports reports,
        ProcessedMessageStore store,
        @Nullable JdbcVersionStore versions,
        @Nullable Steps steps) {

    /** All consumers, one consumer, or one message. */
    @ReadOperation
    public @Nullable Object read(@Nullable String consumer, @Nullable String messageId) {
        if (consumer != null) {
            return (messageId != null) ? message(consumer, messageId) : this.reports.one(consumer);
        }
        if (messageId != null) {
            throw EndpointInput.missingConsumer();
        }
        return this.reports.all();
    }

    private @Nullable MessageReport message(String consumer, String messageId) {
        DeduplicationStrategy strategy = this.reports.strategyOf(consumer);
        if (strategy == DeduplicationStrategy.OFFSET) {
            return record(consumer, messageId);
        }
        if (strategy == DeduplicationStrategy.UNIQUE_CONSTRAINT) {
            // Only the application's own table knows.
            return null;
        }
        Set<MessageId> ids = EndpointInput.messageIds(consumer, messageId);
        MessageReport found = find(consumer, ids);
        if (found != null) {
            return found;
        }
        boolean known = this.reports.registry().names().contains(consumer);
        return known ? MessageReport.unknown(ids.iterator().next(), stepsOf(ids)) : null;
    }

    private @Nullable MessageReport find(String consumer, Set<MessageId> ids) {
        JdbcVersionStore entities = versionsOf(consumer);
        return (entities != null)
                ? firstOf(ids, entities.find(ids), MessageReport::of)
                : firstOf(ids, this.store.find(ids), found -> MessageReport.of(found, stepsOf(Set.of(found.id()))));
    }

    private static <T> @Nullable MessageReport firstOf(
            Set<MessageId> ids, Map<MessageId, T> found, Function<T, MessageReport> report) {
        return ids.stream()
                .filter(found::containsKey)
                .findFirst()
                .map(found::get)
                .map(report)
                .orElse(null);
    }

    private List<MessageReport.StepReport> stepsOf(Set<MessageId> ids) {
        return Stream.ofNullable(this.steps)
                .flatMap(table -> ids.stream().flatMap(id -> table.find(id).stream()))
                .map(step -> new MessageReport.StepReport(step.name(), step.status(), step.at()))
                .toList();
    }

    /** Settles a step whose outcome is unknown, so that the message can be redriven. */
    @WriteOperation
    public WebEndpointResponse<Void> settle(
            String consumer, String messageId, String step, String outcome, SecurityContext security) {
        boolean done = outcome.equals("done");
        if (!done && !outcome.equals("not-done")) {
            throw new InvalidEndpointRequestException(
                    "The outcome of a step is 'done', so that it is not called again, or 'not-done', so that it is",
                    "Unknown outcome");
        }
        Steps table = this.steps;
        boolean settled = table != null
                && !EndpointInput.isRefusedByDatabases(step)
                && EndpointInput.messageIds(consumer, messageId).stream().anyMatch(id -> table.settle(id, step, done));
        if (settled) {
            EndpointInput.audit(
                    security,
                    consumer,
                    "settled step '%s' of message '%s' as %s"
                            .formatted(EndpointInput.printable(step), EndpointInput.printable(messageId), outcome));
        }
        return EndpointInput.noContent(settled);
    }

    /** A record, named as messages of such consumers are; {@code null} if its partition is not known. */
    private @Nullable MessageReport record(String consumer, String messageId) {
        RecordCoordinates record = EndpointInput.coordinates(messageId);
        JdbcPositionStore positions = this.reports.positions();
        if (positions == null) {
            return null;
        }
        return positions.positionsOf(consumer).stream()
                .filter(position ->
                        position.topic().equals(record.topic()) && position.partition() == record.partition())
                .findFirst()
                .map(position -> MessageReport.of(consumer, record, record.offset() < position.nextOffset()))
                .orElse(null);
    }

    /** Where the messages of a consumer are known by their entities; {@code null} if they are known by their ids. */
    private @Nullable JdbcVersionStore versionsOf(String consumer) {
        return (this.reports.strategyOf(consumer) == DeduplicationStrategy.VERSION) ? this.versions : null;
    }

    /** Forgets a message, or the position of a partition. */
    @DeleteOperation
    public WebEndpointResponse<Void> forget(
            String consumer,
            @Nullable String messageId,
            @Nullable String topic,
            @Nullable Integer partition,
            SecurityContext security) {
        String forgotten;
        if (messageId != null && topic == null && partition == null) {
            forgotten = forgetMessage(consumer, messageId);
        } else if (messageId == null && topic != null && partition != null) {
            forgotten = forgetPosition(consumer, topic, partition);
        } else {
            throw new InvalidEndpointRequestException(
                    "Name a message with 'messageId' or, with DeduplicationStrategy.OFFSET, a partition with 'topic' and 'partition'",
                    "Either messageId, or topic and partition");
        }
        if (forgotten != null) {
            EndpointInput.audit(security, consumer, "forgot " + forgotten);
        }
        return EndpointInput.noContent(forgotten != null);
    }

    /** Returns what was forgotten, or {@code null} if there is no such position. */
    private @Nullable String forgetPosition(String consumer, String topic, int partition) {
        JdbcPositionStore positions = this.reports.positions();
        boolean forgotten = positions != null
                && !EndpointInput.isRefusedByDatabases(consumer + topic)
                && positions.forget(consumer, topic, partition);
        return forgotten ? "the position in %s-%d".formatted(EndpointInput.printable(topic), partition) : null;
    }

    private @Nullable String forgetMessage(String consumer, String messageId) {
        MessageReport found = find(consumer, EndpointInput.messageIds(consumer, messageId));
        if (found == null) {
            return null;
        }
        MessageId id = new MessageId(consumer, found.messageId());
        JdbcVersionStore entities = versionsOf(consumer);
        boolean forgotten = (entities != null) ? entities.forget(id) : this.store.forget(id);
        String name = EndpointInput.printable(found.messageId());
        String subject = (entities != null)
                ? "entity '%s', at version %s".formatted(name, found.version())
                : "message '%s'".formatted(name);
        return forgotten ? "%s, processed at %s from %s".formatted(subject, found.processedAt(), found.record()) : null;
    }

    /**
     * Whether a message has been processed, when by the database's clock, and by which record. The id is the stored one: a
     * digest of a long one, or the id of the entity whose newest version is given.
     */
    record MessageReport(
            String consumer,
            String messageId,
            @Nullable String version,
            boolean processed,
            @Nullable Instant processedAt,
            @Nullable Duration age,
            @Nullable RecordCoordinates record,
            List<StepReport> steps) {

        /**
         * A step.
         *
         * @param status {@code done}, or {@code started} for one of which no outcome is known
         */
        record StepReport(
                String name, String status, @Nullable Instant at) {}

        static MessageReport of(ProcessedMessage message, List<StepReport> steps) {
            return new MessageReport(
                    message.id().consumer(),
                    message.id().value(),
                    null,
                    true,
                    message.processedAt(),
                    message.age(),
                    message.coordinates(),
                    steps);
        }

        static MessageReport of(StoredVersion stored) {
            return new MessageReport(
                    stored.entity().consumer(),
                    stored.entity().value(),
                    stored.version().toString(),
                    true,
                    stored.processedAt(),
                    stored.age(),
                    stored.coordinates(),
                    List.of());
        }

        /** A record before or after the position of its partition; the time of its processing is unknown. */
        static MessageReport of(String consumer, RecordCoordinates record, boolean processed) {
            return new MessageReport(
                    consumer, record.toString(), null, processed, null, null, processed ? record : null, List.of());
        }

        static MessageReport unknown(MessageId id, List<StepReport> steps) {
            return new MessageReport(id.consumer(), id.value(), null, false, null, null, null, steps);
        }
    }
}
