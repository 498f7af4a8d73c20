package dev.idempotency.listener;

import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** How a batch is taken apart: each record by itself, in order, up to the first that fails. */
final class SeparatedBatch {

    /** Processes one record of the batch. */
    interface Step {

        /** Whether the record is done, and not {@code nack}ed. */
        boolean process(int position) throws Throwable;
    }

    private SeparatedBatch() {}

    /**
     * Processes the records one by one.
     *
     * @throws RuntimeException if one fails; it is named, as those before it are done
     */
    static void processEach(List<? extends ConsumerRecord<?, ?>> records, Step step) {
        for (int i = 0; i < records.size(); i++) {
            try {
                if (!step.process(i)) {
                    throw new NackedException();
                }
            } catch (Throwable ex) {
                FatalErrors.rethrow(ex);
                throw (ex instanceof RuntimeException named && NamedFailure.isTrusted(ex))
                        ? named
                        : NamedFailure.at(records.get(i), ex.getMessage(), ex);
            }
        }
    }
}
