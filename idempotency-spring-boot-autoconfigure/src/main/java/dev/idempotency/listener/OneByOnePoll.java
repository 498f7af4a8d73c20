package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.DeliveryContext;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.NamedFailure;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.serializer.DeserializationException;

/**
 * The records of one poll, each handed to the listener as a record container does, with what is around it, and claimed when
 * it gets there. They share one transaction or, where that fails, each has its own, up to the first that fails.
 *
 * @param listener the listener, with the conversions of its arguments
 * @param methods its methods
 * @param filter what leaves records out; {@code null} if nothing does
 * @param surroundings what is around each record
 * @param records the records
 * @param consumer where they are from
 */
record OneByOnePoll<K, V>(
        MessageListener<K, V> listener,
        ProtectedMethods methods,
        @Nullable ReadableRecordFilter<K, V> filter,
        RecordSurroundings<K, V> surroundings,
        List<ConsumerRecord<K, V>> records,
        @Nullable Consumer<?, ?> consumer) {

    /**
     * Processes the records.
     *
     * @throws RuntimeException if one fails; it is named, as those before it are done
     */
    void process() throws Throwable {
        boolean alone = this.records.size() == 1 || DeliveryContext.isSeparationRequested();
        if (alone || !processTogether()) {
            SeparatedBatch.processEach(this.records, this::processAlone);
        }
    }

    /**
     * Returns whether it was committed. One that was the first to be called has no need to fail twice, unless its failure may
     * mean that it is a duplicate: that is told only of one that is alone in its transaction.
     */
    private boolean processTogether() throws Throwable {
        RecordVisits visits = new RecordVisits();
        PollTransaction together = new PollTransaction(
                this.methods.representative().transaction(), visits, transaction -> handOverAll(transaction, visits));
        try {
            together.execute();
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            ListenerDefinition called = together.lastCalled();
            boolean atFirst = visits.haveFailed() && visits.count() == 1 && called != null && !together.isRefusedBy(ex);
            if (atFirst && !together.isCommitted()) {
                visits.withinFailed(() -> called.observer().failed(1));
            }
            visits.end(together.isCommitted(), ex);
            if (together.isCommitted()) {
                if (together.hasCalled()) {
                    DeliveryContext.settle(this.records);
                }
                throw ex;
            }
            if (atFirst) {
                Throwable failure = causeOf(ex);
                throw NamedFailure.at(this.records.get(0), failure.getMessage(), failure);
            }
            return false;
        }
        visits.end(true, null);
        return true;
    }

    private void handOverAll(PollTransaction transaction, RecordVisits visits) throws Throwable {
        for (ConsumerRecord<K, V> record : this.records) {
            RecordVisit<K, V> visit = this.surroundings.visit(record, this.consumer);
            visits.add(visit);
            try {
                handOver(visit, record, seen -> Delivery.within(transaction, this.methods, seen));
            } catch (Throwable ex) {
                visits.failAtLast(ex);
                throw ex;
            } finally {
                visit.leave();
            }
        }
    }

    private boolean processAlone(int position) throws Throwable {
        // What fails before the listener is reached must not pass for settled with the record before it.
        DeliveryContext.begin();
        ConsumerRecord<K, V> record = this.records.get(position);
        RecordVisit<K, V> visit = this.surroundings.visit(record, this.consumer);
        try {
            handOver(visit, record, seen -> Delivery.ofRecord(this.methods, seen, null));
            visit.succeed();
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            visit.fail(RecordVisits.asException(ex));
            throw causeOf(ex);
        } finally {
            visit.leave();
        }
        return true;
    }

    private void handOver(
            RecordVisit<K, V> visit, ConsumerRecord<K, V> record, Function<ConsumerRecord<K, V>, Delivery> deliveries)
            throws Throwable {
        DeserializationException unreadable = ReadableRecordFilter.failureToRead(record);
        if (unreadable != null) {
            throw unreadable;
        }
        ConsumerRecord<K, V> seen = visit.intercept();
        if (seen == null || (this.filter != null && this.filter.filter(seen))) {
            return;
        }
        Delivery delivery = deliveries.apply(seen);
        delivery.during(() -> this.listener.onMessage(seen, null, this.consumer));
        delivery.requireHandled();
    }

    private static Throwable causeOf(Throwable failure) {
        return (failure instanceof ListenerExecutionFailedException && failure.getCause() != null)
                ? failure.getCause()
                : failure;
    }
}
