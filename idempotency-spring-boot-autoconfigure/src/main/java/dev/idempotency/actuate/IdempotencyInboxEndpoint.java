package dev.idempotency.actuate;

import dev.idempotency.OperatorActionException;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.Inbox.ReplayResult;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.job.Page;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.dao.DataIntegrityViolationException;

/**
 * Actuator endpoint: the inbox. Contents and errors of its messages are shown as {@code
 * management.endpoint.idempotencyinbox.show-values} says, by default never. They can be replayed once {@code
 * management.endpoint.idempotencyinbox.access} is {@code unrestricted}.
 */
@RegisterReflectionForBinding({
    IdempotencyInboxEndpoint.PageReport.class,
    InboxMessageReport.class,
    IdempotencyInboxEndpoint.ReplayReport.class
})
@Endpoint(id = "idempotencyinbox", defaultAccess = Access.READ_ONLY)
public record IdempotencyInboxEndpoint(Inbox inbox, ConsumerRegistry consumers, Show showValues) {

    /** A page of the messages that fit, or one message with all that was received of it. */
    @ReadOperation
    public @Nullable Object read(
            @Nullable String consumer,
            @Nullable String messageId,
            @Nullable InboxStatus status,
            @Nullable String type,
            @Nullable OffsetDateTime since,
            @Nullable OffsetDateTime until,
            @Nullable String after,
            @Nullable Integer size,
            SecurityContext security) {
        boolean shown = this.showValues.isShown(security, Set.of());
        try {
            if (messageId != null) {
                InboxMessage message = find(consumer, messageId);
                return (message != null) ? InboxMessageReport.of(message, shown) : null;
            }
            Page<InboxEntry> page = EndpointInput.orBadRequest(() -> this.inbox.find(new InboxQuery(
                    status,
                    consumer,
                    type,
                    (since != null) ? since.toInstant() : null,
                    (until != null) ? until.toInstant() : null,
                    after,
                    Objects.requireNonNullElse(size, Page.DEFAULT_SIZE))));
            return new PageReport(
                    page.entries().stream()
                            .map(entry -> InboxMessageReport.Entry.brief(entry, shown))
                            .toList(),
                    page.next());
        } catch (DataIntegrityViolationException ex) {
            throw unstorable();
        }
    }

    private static InvalidEndpointRequestException unstorable() {
        return new InvalidEndpointRequestException(
                "There can be no such message: the database refuses one of the given values, such as a character that it"
                        + " does not know or a time that it cannot tell",
                "There can be no such message");
    }

    /** Replays one message, or all of a consumer that have failed if {@code all} asks for them. */
    @WriteOperation
    public WebEndpointResponse<ReplayReport> replay(
            String consumer,
            @Nullable String messageId,
            @Nullable Boolean all,
            @Nullable Boolean forget,
            SecurityContext security) {
        if ((messageId != null) == Boolean.TRUE.equals(all)) {
            throw new InvalidEndpointRequestException(
                    "Name a message with 'messageId', or ask for all that have failed with '\"all\": true'",
                    "Either messageId or all");
        }
        boolean forgetting = Boolean.TRUE.equals(forget);
        EndpointInput.audit(
                security,
                consumer,
                (messageId != null)
                        ? "replay of message '%s'%s"
                                .formatted(EndpointInput.printable(messageId), forgetting ? ", even if processed" : "")
                        : "replay of all failed messages");
        try {
            return (messageId != null)
                    ? replayOne(consumer, messageId, forgetting)
                    : replayFailed(consumer, forgetting);
        } catch (DataIntegrityViolationException ex) {
            throw unstorable();
        } catch (OperatorActionException ex) {
            return new WebEndpointResponse<>(new ReplayReport(ex.sentBefore(), 0, 0, ex.getMessage()), 409);
        }
    }

    private WebEndpointResponse<ReplayReport> replayFailed(String consumer, boolean forgetting) {
        if (forgetting) {
            throw new InvalidEndpointRequestException(
                    "Only a single message can be forgotten: give a messageId, too", "Missing messageId");
        }
        if (!isKnown(consumer)) {
            return EndpointInput.notFound();
        }
        ReplayResult replays = this.inbox.replayFailed(consumer);
        return new WebEndpointResponse<>(
                new ReplayReport(replays.sent(), replays.refused(), replays.withoutPayload(), null));
    }

    /** Messages may have been left by a consumer that is no longer there, or be another application's. */
    private boolean isKnown(String consumer) {
        return this.consumers.names().contains(consumer)
                || !this.inbox
                        .find(InboxQuery.ALL.withConsumer(consumer).withSize(1))
                        .entries()
                        .isEmpty();
    }

    private WebEndpointResponse<ReplayReport> replayOne(String consumer, String messageId, boolean forgetting) {
        InboxMessage message = find(consumer, messageId);
        if (message == null) {
            return EndpointInput.notFound();
        }
        if (forgetting) {
            this.inbox.forgetAndReplay(message.entry().id());
        } else {
            this.inbox.replay(message.entry().id());
        }
        return new WebEndpointResponse<>(new ReplayReport(1, 0, 0, null));
    }

    private @Nullable InboxMessage find(@Nullable String consumer, String messageId) {
        if (consumer == null) {
            throw EndpointInput.missingConsumer();
        }
        return EndpointInput.messageIds(consumer, messageId).stream()
                .map(this.inbox::find)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** A page of the inbox, the last changed first: {@code next} is what to ask for {@code after}, if there are more. */
    record PageReport(
            List<InboxMessageReport.Entry> messages,
            @Nullable String next) {}

    /**
     * The result of a replay: how many were sent, could not be for the reason in their last error, or had no payload;
     * and why one was refused, or all after those that were sent.
     */
    record ReplayReport(
            long sent,
            long unsendable,
            long withoutPayload,
            @Nullable String refused) {}
}
