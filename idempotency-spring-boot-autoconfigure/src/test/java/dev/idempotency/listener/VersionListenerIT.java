package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.Strategy;
import dev.idempotency.actuate.ConsumerReports;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.metrics.ConsumerCounts;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** Listeners with {@link Strategy#VERSION}; a payload is entity, version and more, with colons between. */
class VersionListenerIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "record", "batch", "poll", "retried", "each");
        start(
                Listeners.class,
                "spring.kafka.listener.auto-startup=false",
                "idempotency.errors.initial-interval=10ms",
                "idempotency.retention=2d");
        this.app.jdbc().execute("alter table effect add column place bigserial");
    }

    /** Lets a listener have all of its messages at once, if it is one for many. */
    private void deliver(String kind, String... payloads) {
        send(kind, payloads);
        startContainers(kind::equals);
        awaitCaughtUp(kind);
    }

    private void startContainers(Predicate<String> ids) {
        this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainers().stream()
                .filter(container -> ids.test(container.getListenerId()))
                .forEach(container -> container.start());
    }

    private List<String> applied(String kind) {
        return this.app
                .jdbc()
                .queryForList("select name from effect where name like ? order by place", String.class, kind + " %");
    }

    private List<String> deadLetters(String kind) {
        return TopicContents.values(topic(kind) + "-dlt");
    }

    private List<String> stale(String kind) {
        return this.app.bean(Outcomes.class).stale.stream()
                .filter(stale -> stale.id().consumer().equals(kind))
                .map(stale -> stale.id().value())
                .toList();
    }

    private List<String> duplicates(String kind) {
        return this.app.bean(Outcomes.class).duplicates.stream()
                .filter(duplicate -> duplicate.id().consumer().equals(kind))
                .map(duplicate -> duplicate.id().value())
                .toList();
    }

    @Test
    void aRecordListenerIsCalledWithWhatIsNewerAndTheRestIsToldApart() {
        deliver("record", "a:1", "a:3", "b:2", "a:2", "a:3", "none", "c:: blank", "c:1.5", "a:4");
        assertThat(applied("record")).containsExactly("record a@1", "record a@3", "record b@2", "record a@4");
        assertThat(stale("record")).containsExactly("a@2");
        assertThat(duplicates("record")).containsExactly("a@3");
        assertThat(deadLetters("record")).containsExactly("none", "c:: blank", "c:1.5");
        IdempotencyEndpoint endpoint = new IdempotencyEndpoint(
                new ConsumerReports(
                        this.app.bean(ListenerDefinitionRegistry.class),
                        ConsumerCounts.NONE,
                        this.app.bean(StoreWatch.class),
                        null,
                        null),
                this.app.bean(ProcessedMessageStore.class),
                this.app.bean(JdbcStrategyFactory.class));
        assertThat(String.valueOf(endpoint.read("record", null)))
                .contains("strategy=VERSION", "version from expression '#payload.split(':')[1]'", "oldestAge=PT");
        assertThat(String.valueOf(endpoint.read("record", "a"))).contains("version=4", "processed=true");
        assertThat(String.valueOf(endpoint.read("record", "x"))).contains("processed=false");
        assertThat(endpoint.forget("record", "b", null, null, SecurityContext.NONE)
                        .getStatus())
                .isEqualTo(204);
        assertThat(endpoint.forget("record", "b", null, null, SecurityContext.NONE)
                        .getStatus())
                .isEqualTo(404);
        deliver("record", "b:1");
        assertThat(applied("record")).endsWith("record b@1");
        assertThat(this.app.bean(Cleanup.class).run().deletedByTask()).containsKey("versions");
        assertThat(this.app
                        .jdbc()
                        .queryForObject(
                                "select count(*) from idempotency_processed where consumer_id = 'record'",
                                Integer.class))
                .isZero();
    }

    @Test
    void aBatchListenerGetsWhatIsNewerThanAllBeforeItAndOneThatDoesNotCompareFailsAlone() {
        deliver(
                "batch",
                "a:1",
                "b:5",
                "a:1",
                "a:3",
                "a:2",
                "b:4",
                "a:2026-11-17T09:30:00Z",
                "a:4",
                "b:2026-11-17T09:30:00Z",
                "c:2026-11-17T10:30:00+01:00",
                "c:2026-11-17T09:30:00Z",
                "c:2026-11-17T10:30:00.000000001+01:00");
        assertThat(applied("batch"))
                .containsExactly(
                        "batch a:1",
                        "batch b:5",
                        "batch a:3",
                        "batch a:4",
                        "batch c:2026-11-17T10:30:00+01:00",
                        "batch c:2026-11-17T10:30:00.000000001+01:00");
        assertThat(deadLetters("batch")).containsExactly("a:2026-11-17T09:30:00Z", "b:2026-11-17T09:30:00Z");
        assertThat(stale("batch")).containsExactly("a@2", "b@4");
        assertThat(duplicates("batch")).containsExactly("a@1", "c@2026-11-17T09:30:00Z");
    }

    @Test
    void aTransactionPerPollLetsInLikewise() {
        deliver("poll", "a:1", "a:3", "a:2", "b:7", "a:2026-11-17T09:30:00Z", "a:4", "b:8");
        assertThat(applied("poll")).containsExactly("poll a:1", "poll a:3", "poll b:7", "poll a:4", "poll b:8");
        assertThat(deadLetters("poll")).containsExactly("a:2026-11-17T09:30:00Z");
        assertThat(stale("poll")).containsExactly("a@2");
    }

    @Test
    void whatIsRetriedWhenSomethingNewerHasBeenProcessedIsStale() {
        deliver("retried", "a:1:fails", "b:1:fails", "a:2", "a:0");
        startContainers(id -> id.startsWith("retried-"));
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            assertThat(applied("retried")).containsExactly("retried a@2", "retried b@1");
            assertThat(stale("retried")).containsExactlyInAnyOrder("a@0", "a@1");
        });
    }

    /** What {@code docs/strategies.md} tells it apart from. */
    @Test
    void withTheVersionInTheIdEveryVersionIsProcessedOnceAndNoneIsStale() {
        deliver("each", "a:1", "a:3", "a:2", "a:3");
        assertThat(applied("each")).containsExactly("each a/1", "each a/3", "each a/2");
        assertThat(duplicates("each")).containsExactly("a/3");
        assertThat(stale("each")).isEmpty();
    }

    @Import({Effects.class, Outcomes.class})
    static class Listeners {

        private static final String ENTITY = "#payload.split(':')[0]";
        private static final String VERSION = "#payload.split(':')[1]";

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(id = "record", topics = "record${suffix}", groupId = "record${suffix}")
        @IdempotentListener(consumer = "record", strategy = Strategy.VERSION, key = ENTITY, version = VERSION)
        void record(String payload) {
            this.effects.happen(
                    "record " + IdempotencyContext.current().messageId().value());
        }

        @KafkaListener(id = "batch", topics = "batch${suffix}", groupId = "batch${suffix}", batch = "true")
        @IdempotentListener(
                consumer = "batch",
                strategy = Strategy.VERSION,
                key = ENTITY,
                version = "#payload.substring(2)")
        void batch(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("batch " + payload));
        }

        @KafkaListener(id = "poll", topics = "poll${suffix}", groupId = "poll${suffix}")
        @IdempotentListener(
                consumer = "poll",
                strategy = Strategy.VERSION,
                key = "#record.value().split(':')[0]",
                version = "#record.value().substring(2)",
                transactionPerPoll = "true")
        void poll(String payload) {
            this.effects.happen("poll " + payload);
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 100))
        @KafkaListener(id = "retried", topics = "retried${suffix}", groupId = "retried${suffix}")
        @IdempotentListener(consumer = "retried", strategy = Strategy.VERSION, key = ENTITY, version = VERSION)
        void retried(String payload) {
            MessageId id = IdempotencyContext.current().messageId();
            this.effects.happen("retried " + id.value());
            if (payload.endsWith("fails") && !this.effects.all().contains("retried a@2")) {
                throw new IllegalStateException("fails until a@2 is there");
            }
        }

        @KafkaListener(id = "each", topics = "each${suffix}", groupId = "each${suffix}")
        @IdempotentListener(consumer = "each", key = ENTITY + " + '/' + " + VERSION)
        void each(String payload) {
            this.effects.happen(
                    "each " + IdempotencyContext.current().messageId().value());
        }
    }
}
