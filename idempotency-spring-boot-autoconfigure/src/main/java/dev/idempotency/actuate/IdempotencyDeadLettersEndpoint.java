package dev.idempotency.actuate;

import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.Page;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterMessage;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.ExceptionPattern;
import dev.idempotency.redrive.RedriveReport;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Actuator endpoint: dead letters. Their contents and errors are shown as {@code
 * management.endpoint.idempotencydeadletters.show-values} says, by default never. They can be sent back once {@code
 * management.endpoint.idempotencydeadletters.access} is {@code unrestricted}.
 */
@RegisterReflectionForBinding({
    IdempotencyDeadLettersEndpoint.DeadLetterReport.class,
    IdempotencyDeadLettersEndpoint.DeadLetterReport.PageReport.class,
    IdempotencyDeadLettersEndpoint.DeadLetterReport.Overview.class,
    EndpointInput.Refused.class,
    RedriveReport.class
})
@Endpoint(id = "idempotencydeadletters", defaultAccess = Access.READ_ONLY)
public record IdempotencyDeadLettersEndpoint(DeadLetters deadLetters, Show showValues) {

    /** All consumers, dead letters of one, or one dead letter. */
    @ReadOperation
    public WebEndpointResponse<Object> read(
            @Nullable String consumer,
            @Nullable String deadLetter,
            @Nullable DeadLetterStatus status,
            @Nullable String exception,
            @Nullable String after,
            @Nullable Integer size,
            SecurityContext security) {
        if (consumer == null) {
            if (Stream.<@Nullable Object>of(deadLetter, status, exception, after)
                    .anyMatch(Objects::nonNull)) {
                throw EndpointInput.missingConsumer();
            }
            return new WebEndpointResponse<>(new DeadLetterReport.Overview(this.deadLetters.consumers().stream()
                    .map(name -> new DeadLetterReport.ConsumerEntry(name, this.deadLetters.lastRedrive(name)))
                    .toList()));
        }
        if (!this.deadLetters.consumers().contains(consumer)) {
            return EndpointInput.notFound();
        }
        boolean shown = this.showValues.isShown(security, Set.of());
        // Asked first: a list that is read after the end of a redrive shows all that it has done.
        RedriveReport redrive = this.deadLetters.lastRedrive(consumer);
        try {
            if (deadLetter != null) {
                return one(consumer, deadLetter, shown);
            }
            int most = Objects.requireNonNullElse(size, Page.DEFAULT_SIZE);
            Page<DeadLetter> page = EndpointInput.orBadRequest(() ->
                    this.deadLetters.find(new DeadLetterQuery(consumer, status, pattern(exception), after, most)));
            return new WebEndpointResponse<>(new DeadLetterReport.PageReport(
                    page.entries().stream()
                            .map(letter -> DeadLetterReport.Entry.of(letter, shown))
                            .toList(),
                    this.deadLetters.topics(consumer),
                    page.next(),
                    redrive));
        } catch (OperatorActionException ex) {
            return EndpointInput.refused(ex.getMessage(), 503);
        }
    }

    private static @Nullable ExceptionPattern pattern(@Nullable String exception) {
        return (exception != null) ? new ExceptionPattern(exception) : null;
    }

    private WebEndpointResponse<Object> one(String consumer, String deadLetter, boolean shown) {
        DeadLetterMessage message = this.deadLetters.find(consumer, EndpointInput.coordinates(deadLetter));
        return (message != null)
                ? new WebEndpointResponse<>(DeadLetterReport.of(message, shown))
                : EndpointInput.notFound();
    }

    /** Sends back one dead letter, or starts to send back all of a consumer, or those with such an exception. */
    @WriteOperation
    public WebEndpointResponse<Object> redrive(
            String consumer,
            @Nullable String deadLetter,
            @Nullable Boolean all,
            @Nullable String exception,
            SecurityContext security) {
        Stream<@Nullable Object> asked = Stream.of(deadLetter, exception, Boolean.TRUE.equals(all) ? all : null);
        if (asked.filter(Objects::nonNull).count() != 1) {
            throw new InvalidEndpointRequestException(
                    "Name one with 'deadLetter', ask for all with '\"all\": true', or for those whose exception is of a"
                            + " class with 'exception'",
                    "One of deadLetter, all and exception");
        }
        if (!this.deadLetters.consumers().contains(consumer)) {
            return EndpointInput.notFound();
        }
        ExceptionPattern pattern = EndpointInput.orBadRequest(() -> pattern(exception));
        String selection = (deadLetter != null)
                ? EndpointInput.coordinates(deadLetter).toString()
                : (pattern != null) ? "those with " + EndpointInput.printable(pattern.text()) : "all";
        EndpointInput.audit(security, consumer, "redrive of dead letters: " + selection);
        try {
            if (deadLetter != null) {
                return redriveOne(consumer, deadLetter);
            }
            return new WebEndpointResponse<>(
                    (pattern != null)
                            ? this.deadLetters.redriveMatching(consumer, pattern)
                            : this.deadLetters.redriveAll(consumer),
                    202);
        } catch (OperatorActionException ex) {
            // It has a cause if the brokers are to blame.
            return EndpointInput.refused(ex.getMessage(), (ex.getCause() != null) ? 503 : 409);
        }
    }

    private WebEndpointResponse<Object> redriveOne(String consumer, String deadLetter) {
        RedriveReport report = this.deadLetters.redrive(consumer, EndpointInput.coordinates(deadLetter));
        if (report == null) {
            return EndpointInput.notFound();
        }
        return new WebEndpointResponse<>(report, (report.sent() > 0) ? WebEndpointResponse.STATUS_OK : 409);
    }

    /** Cancels the redrive of a consumer. */
    @DeleteOperation
    public WebEndpointResponse<Void> cancel(String consumer, SecurityContext security) {
        boolean cancelled = this.deadLetters.cancel(consumer);
        if (cancelled) {
            EndpointInput.audit(security, consumer, "end of the redrive");
        }
        return EndpointInput.noContent(cancelled);
    }

    /** A dead letter: sanitized unless values are shown, but for names, sizes and the class of its exception. */
    record DeadLetterReport(
            Entry letter,
            InboxMessageReport.@Nullable Bytes key,
            List<InboxMessageReport.HeaderReport> headers,
            InboxMessageReport.@Nullable Bytes payload) {

        static DeadLetterReport of(DeadLetterMessage message, boolean showValues) {
            return new DeadLetterReport(
                    Entry.of(message.letter(), showValues),
                    InboxMessageReport.Bytes.of(message.key(), showValues),
                    InboxMessageReport.HeaderReport.of(message.headers(), showValues),
                    InboxMessageReport.Bytes.of(message.payload(), showValues));
        }

        /** A {@link DeadLetter} as a flat JSON object, named by where it stands. */
        record Entry(
                String deadLetter,
                String status,
                @Nullable RecordCoordinates original,
                @Nullable String group,
                @Nullable String exception,
                @Nullable String message,
                Instant at,
                int redrives,
                @Nullable Integer payloadSize) {

            static Entry of(DeadLetter letter, boolean showValues) {
                return new Entry(
                        letter.record().toString(),
                        letter.status().toString(),
                        letter.original(),
                        letter.group(),
                        letter.exception(),
                        (letter.message() == null || showValues) ? letter.message() : SanitizableData.SANITIZED_VALUE,
                        letter.at(),
                        letter.redrives(),
                        letter.payloadSize());
            }
        }

        /** Some dead letters of a consumer: {@code next} is what to ask for {@code after}, if there may be more. */
        record PageReport(
                List<Entry> deadLetters,
                Collection<String> topics,
                @Nullable String next,
                @Nullable RedriveReport redrive) {}

        /** All consumers, each with the redrive that runs, or ran last. */
        record Overview(Collection<ConsumerEntry> consumers) {}

        /** One of them. */
        record ConsumerEntry(String consumer, @Nullable RedriveReport redrive) {}
    }
}
