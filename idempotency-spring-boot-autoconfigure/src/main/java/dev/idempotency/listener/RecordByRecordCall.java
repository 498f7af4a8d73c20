package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import dev.idempotency.key.MessageView;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/** Calls a record listener with one record after the other; the first that fails is named, as batch listeners do. */
final class RecordByRecordCall<K, V> implements ListenerCall {

    /** What leads to the listener method, with the conversions of its arguments. */
    interface Listener<K, V> {

        void onMessage(ConsumerRecord<K, V> record);
    }

    private final ProtectedMethods methods;
    private final List<ConsumerRecord<K, V>> records;
    private final Listener<K, V> listener;

    RecordByRecordCall(ProtectedMethods methods, List<ConsumerRecord<K, V>> records, Listener<K, V> listener) {
        this.methods = methods;
        this.records = records;
        this.listener = listener;
    }

    @Override
    public MessageView view(int position) {
        return new RecordView(this.records.get(position));
    }

    @Override
    public boolean isOneByOne() {
        return true;
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        for (Candidate candidate : admitted) {
            ConsumerRecord<K, V> record = this.records.get(candidate.position());
            IdempotencyContext.Scope context = IdempotencyContext.open(Collections.singletonList(candidate.id()));
            try {
                call(record);
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw NamedFailure.at(record, ex.getMessage(), ex);
            } finally {
                context.close();
            }
        }
        return null;
    }

    private void call(ConsumerRecord<K, V> record) throws Throwable {
        Delivery delivery = Delivery.ofClaimed(this.methods, record);
        try {
            delivery.during(() -> this.listener.onMessage(record));
        } catch (ListenerExecutionFailedException ex) {
            throw (ex.getCause() != null) ? ex.getCause() : ex;
        }
        delivery.requireHandled();
    }

    /** A message before its record has been converted: its key is found in the record. */
    private record RecordView(ConsumerRecord<?, ?> record) implements MessageView {

        @Override
        public @Nullable Object payload() {
            return this.record.value();
        }

        @Override
        public @Nullable Object argument(int index) {
            throw new IllegalStateException("There are no arguments before the record has been converted");
        }
    }
}
