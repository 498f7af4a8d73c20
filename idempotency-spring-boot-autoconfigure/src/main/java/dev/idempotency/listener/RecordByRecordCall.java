package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.Collections;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/**
 * Calls a record listener with the records of a poll, one after the other.
 *
 * @param delivery all records of a poll
 * @param definition the listener
 * @param listener calls its method, after the conversion of its arguments, with the record at a position
 */
record RecordByRecordCall(Delivery delivery, ListenerDefinition definition, IntConsumer listener)
        implements ListenerCall {

    @Override
    public MessageView view(int position) {
        return new RecordView(
                this.delivery.records().get(position), this.definition.method().takesRecord());
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        for (Candidate candidate : admitted) {
            IdempotencyContext.Scope context = IdempotencyContext.open(Collections.singletonList(candidate.id()));
            try {
                call(candidate);
            } finally {
                context.close();
            }
        }
        return null;
    }

    private void call(Candidate candidate) throws Throwable {
        Delivery claimed = Delivery.ofClaimed(this.delivery.methods(), candidate.record(), this.delivery.consumer());
        try {
            claimed.during(() -> this.listener.accept(candidate.position()));
        } catch (ListenerExecutionFailedException ex) {
            throw (ex.getCause() != null) ? ex.getCause() : ex;
        }
        claimed.requireHandled();
    }

    /** A message before its record has been converted: its value is the payload. */
    private record RecordView(ConsumerRecord<?, ?> record, boolean argument) implements MessageView {

        @Override
        public @Nullable Object payload() {
            return this.record.value();
        }

        @Override
        public @Nullable Object argument(int index) {
            return this.argument ? this.record : this.record.value();
        }
    }
}
