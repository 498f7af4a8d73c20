package dev.idempotency.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.Outcomes;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Stale;
import dev.idempotency.internal.event.IdempotencyEventNotifier;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.store.StoreStatistics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.util.ReflectionUtils;

class MeterEventListenerTests {

    static final ConsumerDescription BILLING = consumer("billing", DeduplicationStrategy.MESSAGE_ID);
    static final RecordCoordinates RECORD = new RecordCoordinates("bills", 0, 1);
    private static final MessageId ID = new MessageId("billing", "1");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final StoreWatch store = new StoreWatch(() -> StoreStatistics.UNKNOWN, Duration.ofMinutes(1));
    private final IdempotencyEventListener observer =
            new MeterEventListener(this.registry, this.store, 2).forConsumer(BILLING);

    private static ConsumerDescription consumer(String name, DeduplicationStrategy strategy) {
        return new ConsumerDescription(
                name, "Listener.on", List.of("bills"), "group", "headers", Duration.ofDays(7), strategy);
    }

    private double count(String meter, String... tags) {
        return this.registry.get(meter).tags(tags).counter().count();
    }

    private Timer timer(String meter, String... tags) {
        return this.registry.get(meter).tags(tags).timer();
    }

    @Test
    void whereAConstraintTellsDuplicatesTheirKindAndAgeAreNotKnown() {
        new MeterEventListener(this.registry, this.store, 0)
                .forConsumer(consumer("constrained", DeduplicationStrategy.UNIQUE_CONSTRAINT))
                .duplicate(new Duplicate(ID, RECORD, DuplicateKind.UNKNOWN, null, null));
        assertThat(count("idempotency.dedup.hits", "consumer", "constrained", "kind", "unknown"))
                .isOne();
        assertThat(timer("idempotency.dedup.age", "consumer", "constrained").count())
                .isZero();
    }

    @Test
    void theAgeOfEverySlotIsShown() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        StoreStatistics statistics = new StoreStatistics(
                1L,
                Map.of(),
                List.of(new StoreStatistics.Slot(0, 1, Duration.ofDays(1)), new StoreStatistics.Slot(1, 0, null)));
        StoreWatch watch = new StoreWatch(() -> statistics, Duration.ofMinutes(1));
        watch.current();
        new MeterEventListener(meters, watch, 3);
        assertThat(Stream.of("0", "1", "2").map(slot -> meters.get("idempotency.ring.slot.age")
                        .tag("slot", slot)
                        .timeGauge()
                        .value(TimeUnit.SECONDS)))
                .containsExactly(86_400.0, Double.NaN, Double.NaN);
    }

    @Test
    void allMetersAreThereBeforeTheFirstMessageAndNoneIsAddedByMessages() {
        List<Meter> meters = this.registry.getMeters();
        assertThat(meters)
                .extracting(meter -> meter.getId().getName())
                .contains(Stream.of(IdempotencyMeters.class.getFields())
                        .map(field -> (String) ReflectionUtils.getField(field, null))
                        .filter(name -> name.startsWith("idempotency."))
                        .filter(name -> !name.equals(IdempotencyMeters.POSITION_RESETS))
                        .toArray(String[]::new));
        assertThat(meters)
                .filteredOn(Counter.class::isInstance)
                .allSatisfy(counter -> assertThat(((Counter) counter).count()).isZero());
        everythingHappens(this.observer);
        assertThat(this.registry.getMeters()).hasSameSizeAs(meters);
    }

    @Test
    void whateverBecomesOfMessagesIsCountedAndTimed() {
        everythingHappens(this.observer);
        assertThat(List.of("claimed", "duplicate", "mixed", "timeout", "failed"))
                .allSatisfy(result -> assertThat(
                                timer("idempotency.claim", "result", result).totalTime(TimeUnit.NANOSECONDS))
                        .isEqualTo(1000));
        assertThat(timer("idempotency.lock.wait").totalTime(TimeUnit.NANOSECONDS))
                .isEqualTo(1000);
        assertThat(count("idempotency.messages", "outcome", "failed")).isEqualTo(1);
        assertThat(count("idempotency.messages", "outcome", "stale")).isOne();
        assertThat(timer("idempotency.lag").max(TimeUnit.SECONDS)).isGreaterThanOrEqualTo(60);
        assertThat(timer("idempotency.dedup.age").count()).isOne();
        assertThat(timer("idempotency.dedup.age").totalTime(TimeUnit.HOURS)).isEqualTo(5);
        assertThat(count("idempotency.dedup.hits", "kind", "redelivery")).isOne();
        assertThat(count("idempotency.dedup.conflicts")).isOne();
    }

    @Test
    void whatACleanupHasRemovedIsCountedThoughAnotherOfItsTasksFailed() {
        RuntimeException failure = new IllegalStateException("no grant");
        new MeterEventListener(this.registry, this.store, 0)
                .cleanupRan(new CleanupRun(
                        Instant.now(), Duration.ofSeconds(1), Map.of("processed", 12L, "inbox", 0L), false, failure));
        assertThat(count("idempotency.cleanup.deleted")).isEqualTo(12);
        assertThat(count("idempotency.cleanup.failures")).isOne();
    }

    @Test
    void anObserverThatFailsBreaksNeitherStartUpNorAMessageNorTheOthers() {
        IdempotencyEventListener failsToBegin = IdempotencyEventListener.perConsumer(consumer -> {
            throw new IllegalStateException("told to fail");
        });
        IdempotencyEventListener failsLater = new IdempotencyEventListener() {
            @Override
            public void processed(MessageId id, RecordCoordinates coordinates) {
                throw new NoClassDefFoundError("told to fail");
            }
        };
        Outcomes outcomes = new Outcomes();
        IdempotencyEventListener all = IdempotencyEventNotifier.of(List.of(failsToBegin, failsLater, outcomes))
                .forConsumer(BILLING);
        everythingHappens(all);
        assertThat(outcomes.processed).containsExactly(ID);
    }

    private static void everythingHappens(IdempotencyEventListener observer) {
        observer.delivered(Instant.now().minusSeconds(60));
        observer.claimAnswered(1, 0, 1000);
        observer.claimAnswered(0, 1, 1000);
        observer.claimAnswered(2, 1, 1000);
        observer.claimFailed(new ClaimTimeoutException("too long", null), 1000);
        observer.claimFailed(new IllegalStateException("database down"), 1000);
        observer.lockWaited(1000);
        observer.processed(ID, RECORD);
        observer.duplicate(new Duplicate(ID, RECORD, DuplicateKind.REDELIVERY, Instant.now(), Duration.ofHours(5)));
        observer.duplicate(new Duplicate(ID, RECORD, DuplicateKind.REPUBLICATION, null, null));
        observer.conflict(new Conflict(ID, RECORD, RECORD, null));
        observer.stale(new Stale(ID, RECORD, "1", "2", null, null));
        observer.missingKey(RECORD);
        observer.failed(RECORD, new IllegalStateException());
        observer.committed(1000);
    }
}
