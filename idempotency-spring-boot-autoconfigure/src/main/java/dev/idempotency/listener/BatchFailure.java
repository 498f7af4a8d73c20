package dev.idempotency.listener;

import dev.idempotency.BatchRolledBackException;
import dev.idempotency.failure.NamedFailure;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;

/**
 * A batch of which the listener says that one record failed.
 *
 * @param position the failed record's position in the delivery, or -1 if the exception names none of its records
 * @param exception what the listener threw to say so
 */
record BatchFailure(int position, BatchListenerFailedException exception) {

    static @Nullable BatchFailure in(
            @Nullable Throwable thrown, List<? extends ConsumerRecord<?, ?>> records, int[] positions) {
        BatchListenerFailedException failed = NamedFailure.in(thrown);
        return (failed != null) ? new BatchFailure(position(failed, records, positions), failed) : null;
    }

    private static int position(
            BatchListenerFailedException failed, List<? extends ConsumerRecord<?, ?>> records, int[] positions) {
        ConsumerRecord<?, ?> failedRecord = failed.getRecord();
        if (failedRecord == null) {
            int index = failed.getIndex();
            return (index >= 0 && index < positions.length) ? positions[index] : -1;
        }
        for (int position : positions) {
            ConsumerRecord<?, ?> record = records.get(position);
            if (record.topic().equals(failedRecord.topic())
                    && record.partition() == failedRecord.partition()
                    && record.offset() == failedRecord.offset()) {
                return position;
            }
        }
        return -1;
    }

    /** For the error handler: all before this record is done, and this one is not. */
    static BatchListenerFailedException at(
            ConsumerRecord<?, ?> record, @Nullable String message, @Nullable Throwable cause) {
        return NamedFailure.at(record, message, cause);
    }

    /** For the error handler: nothing of the batch is done. The record that failed is not named, so all come again. */
    BatchRolledBackException wholeBatch() {
        return NamedFailure.wholeBatch(this.exception);
    }
}
