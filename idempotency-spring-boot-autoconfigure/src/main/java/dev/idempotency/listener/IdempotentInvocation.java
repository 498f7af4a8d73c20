package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.serializer.DeserializationException;

/**
 * One call of a listener: identifies its messages and processes them in one transaction.
 *
 * <p>If several fail together, nothing is known of each. The error handler has them redelivered and processed one by one;
 * only what fails by itself is reported as failed.
 */
final class IdempotentInvocation {

    private final ListenerCall call;
    private final Delivery delivery;
    private final ListenerDefinition definition;
    private final OutcomeReporter reporter;

    private IdempotentInvocation(ListenerCall call) {
        this.call = call;
        this.delivery = call.delivery();
        this.definition = call.definition();
        this.reporter = new OutcomeReporter(this.definition);
    }

    static @Nullable Object proceed(ListenerCall call) throws Throwable {
        return new IdempotentInvocation(call).proceed();
    }

    private @Nullable Object proceed() throws Throwable {
        this.call.requireKeys();
        Attempt attempt = new Attempt(this.call, identify(), this.reporter);
        Object result;
        try {
            result = attempt.execute();
        } catch (ConflictFoundException ex) {
            throw isSingle() ? this.reporter.refused(ex) : ex;
        } catch (Throwable ex) {
            if (!attempt.isCommitted()) {
                reportFailure(ex, attempt);
            }
            throw ex;
        }
        if (!attempt.isCommitted()) {
            reportFailure(new NackedException(), attempt);
        }
        return result;
    }

    private void reportFailure(Throwable failure, Attempt attempt) {
        if (isSingle()) {
            this.reporter.failed(failure, attempt.called());
        }
    }

    private boolean isSingle() {
        return this.delivery.records().size() == 1;
    }

    private List<Candidate> identify() {
        List<? extends ConsumerRecord<?, ?>> records = this.delivery.records();
        List<Candidate> candidates = new ArrayList<>(records.size());
        for (int i = 0; i < records.size(); i++) {
            try {
                candidates.add(identify(records.get(i), i));
            } catch (RuntimeException ex) {
                throw isSingle() ? this.definition.keyFailures().judge(ex, RecordCoordinates.of(records.get(i))) : ex;
            }
        }
        return candidates;
    }

    private Candidate identify(ConsumerRecord<?, ?> record, int position) {
        DeserializationException unreadable =
                this.delivery.isBatch() ? ReadableRecordFilter.failureToRead(record) : null;
        if (unreadable != null) {
            throw unreadable;
        }
        return this.definition.candidates().create(position, this.call.view(position));
    }
}
