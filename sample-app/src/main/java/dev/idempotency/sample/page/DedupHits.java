package dev.idempotency.sample.page;

import dev.idempotency.DuplicateKind;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.springframework.stereotype.Component;

/** Dropped duplicates of all consumers per second, for the chart. */
@Component
class DedupHits implements IdempotencyEventListener {

    static final Duration WINDOW = Duration.ofMinutes(2);

    private final NavigableMap<Long, Hits> bySecond = new TreeMap<>();

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        return new IdempotencyEventListener() {

            @Override
            public void duplicate(Duplicate duplicate) {
                count(duplicate.kind());
            }
        };
    }

    private synchronized void count(DuplicateKind kind) {
        long second = Instant.now().getEpochSecond();
        this.bySecond.merge(second, Hits.one(second, kind), Hits::plus);
        forgetOld(second);
    }

    /** Returns the seconds of the window with duplicates, oldest first. */
    synchronized List<Hits> recent() {
        forgetOld(Instant.now().getEpochSecond());
        return List.copyOf(this.bySecond.values());
    }

    private void forgetOld(long second) {
        this.bySecond.headMap(second - WINDOW.toSeconds(), true).clear();
    }

    /**
     * Duplicates dropped within a second.
     *
     * @param second the second since 1970
     * @param redeliveries duplicates that Kafka delivered again
     * @param republications duplicates that the producer sent again
     */
    record Hits(long second, int redeliveries, int republications) {

        static Hits one(long second, DuplicateKind kind) {
            return (kind == DuplicateKind.REDELIVERY) ? new Hits(second, 1, 0) : new Hits(second, 0, 1);
        }

        Hits plus(Hits more) {
            return new Hits(
                    this.second, this.redeliveries + more.redeliveries, this.republications + more.republications);
        }
    }
}
