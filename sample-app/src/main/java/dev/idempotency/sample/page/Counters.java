package dev.idempotency.sample.page;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The counters of every consumer, as shown by Actuator under {@code /actuator/metrics}; without such a meter, the counts of
 * this bean.
 */
@Component
class Counters implements IdempotencyEventListener {

    private final MeterRegistry meters;
    private final List<Tally> tallies = new CopyOnWriteArrayList<>();

    Counters(MeterRegistry meters) {
        this.meters = meters;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        Tally tally = new Tally(consumer);
        this.tallies.add(tally);
        return tally;
    }

    List<ConsumerCounts> all() {
        return this.tallies.stream()
                .map(tally -> new ConsumerCounts(
                        tally.consumer.name(),
                        tally.consumer.listener(),
                        count(Count.PROCESSED, tally),
                        count(Count.REDELIVERIES, tally),
                        count(Count.REPUBLICATIONS, tally),
                        count(Count.FAILED, tally)))
                .toList();
    }

    private long count(Count count, Tally tally) {
        Counter counter = this.meters
                .find(count.meter)
                .tag("consumer", tally.consumer.name())
                .tag(count.tag, count.value)
                .counter();
        return (counter != null) ? Math.round(counter.count()) : tally.sum(count);
    }

    /** A count, and its meter. */
    private enum Count {
        PROCESSED("idempotency.messages", "outcome", "processed"),
        REDELIVERIES("idempotency.dedup.hits", "kind", "redelivery"),
        REPUBLICATIONS("idempotency.dedup.hits", "kind", "republication"),
        FAILED("idempotency.messages", "outcome", "failed");

        private final String meter;
        private final String tag;
        private final String value;

        Count(String meter, String tag, String value) {
            this.meter = meter;
            this.tag = tag;
            this.value = value;
        }
    }

    private static final class Tally implements IdempotencyEventListener {

        private final ConsumerDescription consumer;
        private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);

        Tally(ConsumerDescription consumer) {
            this.consumer = consumer;
            for (Count count : Count.values()) {
                this.counts.put(count, new LongAdder());
            }
        }

        @Override
        public void processed(MessageId id, RecordCoordinates coordinates) {
            add(Count.PROCESSED, 1);
        }

        @Override
        public void duplicate(Duplicate duplicate) {
            switch (duplicate.kind()) {
                case REDELIVERY -> add(Count.REDELIVERIES, 1);
                case REPUBLICATION -> add(Count.REPUBLICATIONS, 1);
            }
        }

        @Override
        public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
            add(Count.FAILED, 1);
        }

        private void add(Count count, int messages) {
            this.counts.get(count).add(messages);
        }

        private long sum(Count count) {
            return this.counts.get(count).sum();
        }
    }
}
