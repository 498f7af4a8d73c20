package dev.idempotency.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Strategy;
import dev.idempotency.Version;
import dev.idempotency.app.Outcomes;
import dev.idempotency.observe.CompositeConsumerObserver;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.observe.Stale;
import dev.idempotency.retention.CleanupObserver;
import dev.idempotency.retention.CleanupRun;
import dev.idempotency.store.StoreStatistics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class MeterObserverTests {

    private static final ConsumerDescription BILLING =
            new ConsumerDescription("billing", "Listener.on", List.of("bills"), "group", "headers", Duration.ofDays(7));
    private static final MessageId ID = new MessageId("billing", "1");
    private static final RecordCoordinates RECORD = new RecordCoordinates("bills", 0, 1);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final StoreWatch store = new StoreWatch(() -> StoreStatistics.UNKNOWN, Duration.ofMinutes(1));
    private final ConsumerObserver observer = new MeterObserver(this.registry, this.store).observe(BILLING);

    @Test
    void whereAConstraintTellsDuplicatesTheirKindAndAgeAreNotKnown() {
        ConsumerObserver constrained = new MeterObserver(this.registry, this.store)
                .observe(new ConsumerDescription(
                        "constrained",
                        "Listener.on",
                        List.of("topic"),
                        "group",
                        "the constraint payment_pkey",
                        Duration.ofDays(7),
                        Strategy.UNIQUE_CONSTRAINT));
        constrained.duplicate(new Duplicate(ID, RECORD, DuplicateKind.UNKNOWN, null, null));
        assertThat(this.registry
                        .get("idempotency.dedup.hits")
                        .tag("consumer", "constrained")
                        .counters())
                .singleElement()
                .satisfies(counter -> {
                    assertThat(counter.getId().getTag("kind")).isEqualTo("unknown");
                    assertThat(counter.count()).isOne();
                });
        assertThat(this.registry
                        .get("idempotency.dedup.age")
                        .tag("consumer", "constrained")
                        .timer()
                        .count())
                .isZero();
    }

    @Test
    void allMetersAreThereBeforeTheFirstMessageWithZero() {
        new CleanupMeters(this.registry);
        List<Meter> meters = this.registry.getMeters();
        assertThat(meters.stream().map(meter -> meter.getId().getName()).collect(Collectors.toSet()))
                .contains(
                        "idempotency.messages",
                        "idempotency.dedup.hits",
                        "idempotency.dedup.conflicts",
                        "idempotency.dedup.age",
                        "idempotency.retention",
                        "idempotency.claim",
                        "idempotency.listener",
                        "idempotency.retries",
                        "idempotency.dead.letters",
                        "idempotency.outage",
                        "idempotency.cleanup",
                        "idempotency.cleanup.deleted",
                        "idempotency.cleanup.failures",
                        "idempotency.store.rows",
                        "idempotency.store.oldest.age");
        assertThat(meters.stream().filter(Counter.class::isInstance).map(Counter.class::cast))
                .hasSize(12)
                .allSatisfy(counter -> assertThat(counter.count()).isZero());
        assertThat(meters.stream().filter(Timer.class::isInstance).map(Timer.class::cast))
                .hasSize(9)
                .allSatisfy(timer -> assertThat(timer.count()).isZero());
    }

    @Test
    void noMeterIsAddedByMessagesWhateverBecomesOfThem() {
        int before = this.registry.getMeters().size();
        everythingHappens(this.observer);
        assertThat(this.registry.getMeters()).hasSize(before);
    }

    @Test
    void claimsAreTimedByTheirResult() {
        everythingHappens(this.observer);
        for (String result : List.of("claimed", "duplicate", "mixed", "timeout", "failed")) {
            assertThat(this.registry
                            .get("idempotency.claim")
                            .tags("consumer", "billing", "result", result)
                            .timer()
                            .totalTime(TimeUnit.NANOSECONDS))
                    .as(result)
                    .isEqualTo(1000);
        }
    }

    @Test
    void everyMessageOfAFailedBatchIsCounted() {
        this.observer.failed(3);
        assertThat(this.registry
                        .get("idempotency.messages")
                        .tags("outcome", "failed")
                        .counter()
                        .count())
                .isEqualTo(3);
    }

    @Test
    void whatIsStaleIsCountedByItself() {
        everythingHappens(this.observer);
        assertThat(this.registry
                        .get("idempotency.messages")
                        .tags("outcome", "stale")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void theAgeOfADuplicateIsTimedWhereItIsKnown() {
        everythingHappens(this.observer);
        Timer age = this.registry.get("idempotency.dedup.age").timer();
        assertThat(age.count()).isEqualTo(1);
        assertThat(age.totalTime(TimeUnit.HOURS)).isEqualTo(5);
        assertThat(this.registry
                        .get("idempotency.dedup.hits")
                        .tag("kind", "redelivery")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(this.registry.get("idempotency.dedup.conflicts").counter().count())
                .isEqualTo(1);
    }

    @Test
    void aShortRetentionHasAgesToo() {
        ConsumerDescription brief = new ConsumerDescription(
                "brief", "Listener.on", List.of("bills"), "group", "headers", Duration.ofSeconds(1));
        assertThatCode(() -> new MeterObserver(this.registry, this.store).observe(brief))
                .doesNotThrowAnyException();
    }

    @Test
    void anObserverThatFailsBreaksNeitherStartUpNorAMessageNorTheOthers() {
        IdempotencyObserver failsToBegin = consumer -> {
            throw new IllegalStateException("told to fail");
        };
        IdempotencyObserver failsLater = consumer -> new ConsumerObserver() {
            @Override
            public void processed(MessageId id, RecordCoordinates coordinates) {
                throw new IllegalStateException("told to fail");
            }
        };
        Outcomes outcomes = new Outcomes();
        ConsumerObserver all = CompositeConsumerObserver.of(List.of(failsToBegin, failsLater, outcomes), BILLING);
        everythingHappens(all);
        assertThat(outcomes.processed).containsExactly(ID);
    }

    @Test
    void whatACleanupHasRemovedIsCountedThoughAnotherOfItsTasksFailed() {
        RuntimeException failure = new IllegalStateException("no grant");
        new CleanupMeters(this.registry)
                .cleanupRan(new CleanupRun(
                        Instant.now(), Duration.ofSeconds(1), Map.of("processed", 12L, "inbox", 0L), false, failure));
        assertThat(this.registry.get("idempotency.cleanup.deleted").counter().count())
                .isEqualTo(12);
        assertThat(this.registry.get("idempotency.cleanup.failures").counter().count())
                .isOne();
    }

    @Test
    void anObserverThatFailsDoesNotBreakTheCleanup() {
        List<CleanupRun> heard = new ArrayList<>();
        CleanupObserver fails = run -> {
            throw new IllegalStateException("told to fail");
        };
        CleanupObserver isNotThere = run -> {
            throw new NoClassDefFoundError("told to fail");
        };
        CleanupRun run = new CleanupRun(Instant.now(), Duration.ofSeconds(1), Map.of("processed", 7L), true, null);
        new ObserverNotifier<CleanupObserver>(List.of(fails, isNotThere, heard::add), "the cleanup is not affected")
                .tell(observer -> observer.cleanupRan(run));
        assertThat(heard).containsExactly(run);
    }

    private static void everythingHappens(ConsumerObserver observer) {
        observer.claimAnswered(1, 0, 1000);
        observer.claimAnswered(0, 1, 1000);
        observer.claimAnswered(2, 1, 1000);
        observer.claimFailed(new ClaimTimeoutException("too long", null), 1000);
        observer.claimFailed(new IllegalStateException("database down"), 1000);
        observer.processed(ID, RECORD);
        observer.duplicate(new Duplicate(ID, RECORD, DuplicateKind.REDELIVERY, Instant.now(), Duration.ofHours(5)));
        observer.duplicate(new Duplicate(ID, RECORD, DuplicateKind.REPUBLICATION, null, null));
        observer.conflict(new Conflict(ID, RECORD, RECORD, null));
        observer.stale(new Stale(ID, RECORD, Version.of(1), Version.of(2), null, null));
        observer.missingKey(RECORD);
        observer.failed(1);
        observer.committed(1000);
    }
}
