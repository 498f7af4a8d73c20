package dev.idempotency.actuate;

import dev.idempotency.OperatorActionException;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.Assert;

/**
 * Actuator endpoint: reconciliations, with ids and places of messages. They can be started and cancelled once {@code
 * management.endpoint.idempotencyreconciliation.access} is {@code unrestricted}.
 */
@RegisterReflectionForBinding({
    ReconciliationReport.class,
    IdempotencyReconciliationEndpoint.Overview.class,
    EndpointInput.Refused.class
})
@Endpoint(id = "idempotencyreconciliation", defaultAccess = Access.READ_ONLY)
public record IdempotencyReconciliationEndpoint(Reconciliation reconciliation) {

    private static final Duration DEFAULT_SINCE = Duration.ofHours(24);

    private static final String SINCE_REFUSAL =
            "'since' must be a time with its unit, such as \"24h\", \"7d\" or \"PT24H\", and at most \"%dd\"."
                    .formatted(ReconciliationRequest.LONGEST.toDays());

    private static final String REPLAY_FROM_REFUSAL =
            "'replayFrom' must be a time such as \"2026-11-18T03:00:00Z\", since which the consumer has run with the library without interruption.";

    /** The reconciliations that run or ran last, of all consumers or of one. */
    @ReadOperation
    public @Nullable Object read(@Nullable String consumer) {
        if (consumer != null) {
            return this.reconciliation.lastReconciliation(consumer);
        }
        return new Overview(
                List.copyOf(this.reconciliation.consumers()),
                this.reconciliation.consumers().stream()
                        .map(this.reconciliation::lastReconciliation)
                        .filter(Objects::nonNull)
                        .toList());
    }

    /** Starts one. */
    @WriteOperation
    public WebEndpointResponse<Object> start(
            String consumer, @Nullable String since, @Nullable String replayFrom, SecurityContext security) {
        if (!this.reconciliation.consumers().contains(consumer)) {
            return EndpointInput.notFound();
        }
        ReconciliationRequest request;
        try {
            request = new ReconciliationRequest(
                    consumer, timeOf(since), (replayFrom != null) ? Instant.parse(replayFrom) : null);
        } catch (DateTimeParseException ex) {
            return EndpointInput.refused(REPLAY_FROM_REFUSAL, WebEndpointResponse.STATUS_BAD_REQUEST);
        } catch (IllegalArgumentException | ArithmeticException ex) {
            return EndpointInput.refused(SINCE_REFUSAL, WebEndpointResponse.STATUS_BAD_REQUEST);
        }
        String replay = (replayFrom != null) ? ", and replay of what is missing from " + request.replayFrom() : "";
        EndpointInput.audit(security, consumer, "reconciliation since " + request.since() + replay);
        try {
            return new WebEndpointResponse<>(this.reconciliation.start(request), 202);
        } catch (OperatorActionException ex) {
            return EndpointInput.refused(ex.getMessage(), 409);
        }
    }

    /** A number without a unit would be milliseconds, which is hardly meant. */
    private static Duration timeOf(@Nullable String since) {
        if (since == null) {
            return DEFAULT_SINCE;
        }
        Assert.isTrue(!since.matches(".*\\d"), "There is no unit");
        return DurationStyle.detectAndParse(since);
    }

    /** Cancels the reconciliation of a consumer. */
    @DeleteOperation
    public WebEndpointResponse<Void> cancel(String consumer, SecurityContext security) {
        boolean cancelled = this.reconciliation.cancel(consumer);
        if (cancelled) {
            EndpointInput.audit(security, consumer, "end of the reconciliation");
        }
        return EndpointInput.noContent(cancelled);
    }

    /** The consumers that can be reconciled, and the reconciliations that run or ran last. */
    record Overview(List<String> consumers, List<ReconciliationReport> reconciliations) {}
}
