package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/** The application's own error handlers decide on messages, and never hear of the database's failures. */
class OtherErrorHandlersIT extends SharedApplicationTest {

    private static final List<String> KINDS = List.of("handled", "handled-batch", "retried");

    @BeforeAll
    void start() {
        createTopics(1, KINDS.toArray(String[]::new));
        start(
                Listeners.class,
                "spring.datasource.hikari.connection-timeout=500",
                "idempotency.errors.outage.max-interval=200ms");
    }

    private List<String> givenUp(String kind) {
        return Stream.concat(
                        this.app.bean(Recovered.class).payloads.stream()
                                .filter(payload -> payload.contains(topic(kind))),
                        Stream.of("-retry", "-dlt").flatMap(end -> TopicContents.values(topic(kind) + end).stream()))
                .toList();
    }

    @Test
    void anOutageIsWaitedForWhateverTheErrorHandlerIs() {
        Map<String, Integer> expected = new HashMap<>();
        Retries retries = this.app.bean(Retries.class);
        Map<String, Integer> before = new HashMap<>();
        KINDS.forEach(kind -> before.put(kind, retries.of(kind)));
        this.database.goAway();
        for (String kind : KINDS) {
            for (int i = 0; i < 10; i++) {
                String payload = "patient " + i + " of " + topic(kind);
                expected.put(payload, 1);
                send(kind, payload);
            }
        }
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        await().atMost(Duration.ofSeconds(60)).until(() -> outages.current().size() == KINDS.size());
        await().atMost(Duration.ofSeconds(60))
                .until(() -> KINDS.stream().allMatch(kind -> retries.of(kind) >= before.get(kind) + 5));
        this.database.comeBack();
        KINDS.forEach(this::awaitCaughtUp);
        assertThat(this.app.bean(Effects.class).counts()).containsAllEntriesOf(expected);
        assertThat(KINDS).allSatisfy(kind -> assertThat(givenUp(kind)).noneMatch(expected::containsKey));
        await().until(() -> outages.current().isEmpty());
    }

    @Test
    void aMessageThatFailsByItselfIsLeftToTheApplicationsErrorHandler() {
        for (String kind : List.of("handled", "handled-batch", "retried")) {
            String poison = "poison of " + topic(kind);
            send(kind, poison);
            awaitCaughtUp(kind);
            await().atMost(Duration.ofSeconds(30)).until(() -> givenUp(kind).contains(poison));
            assertThat(this.app.bean(Effects.class).counts()).doesNotContainKey(poison);
        }
        assertThat(TopicContents.values(topic("handled") + "-dlt")).isEmpty();
        assertThat(TopicContents.values(topic("handled-batch") + "-dlt")).isEmpty();
        String retried = "poison of " + topic("retried");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> TopicContents.values(topic("retried") + "-dlt").contains(retried));
        assertThat(this.app.bean(Work.class).attempts(retried)).isEqualTo(2);
    }

    @Test
    void anOutageWhileABatchIsBeingRetriedDoesNotUseUpItsAttempts() {
        for (String kind : List.of("handled", "handled-batch")) {
            String tangled = "tangled of " + topic(kind);
            send(kind, tangled);
            awaitCaughtUp(kind);
            assertThat(this.app.bean(Effects.class).counts()).containsEntry(tangled, 1);
            assertThat(this.app.bean(Work.class).attempts(tangled)).isEqualTo(7);
            assertThat(givenUp(kind)).doesNotContain(tangled);
        }
    }

    @Test
    void aBatchWhoseFailureNamesNoRecordIsGivenUpAsTheApplicationsErrorHandlerDoesAndDrained() {
        String poison = "poison in a batch of " + topic("handled-batch");
        List<String> all = List.of("before " + poison, poison, "after " + poison);
        send("handled-batch", all.toArray(String[]::new));
        awaitCaughtUp("handled-batch");
        Map<String, Integer> applied = this.app.bean(Effects.class).counts();
        List<String> givenUp = givenUp("handled-batch");
        assertThat(all).allSatisfy(payload -> assertThat(
                        applied.getOrDefault(payload, 0) + (givenUp.contains(payload) ? 1 : 0))
                .isOne());
        assertThat(givenUp).contains(poison);
    }

    /** What the application's error handlers were given in the end. */
    static class Recovered {

        final List<String> payloads = new CopyOnWriteArrayList<>();
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, Work.class, Recovered.class, Retries.class})
    static class Listeners {

        @Bean
        DefaultErrorHandler applicationsErrorHandler(Recovered recovered) {
            return new DefaultErrorHandler(
                    (record, exception) -> recovered.payloads.add(String.valueOf(record.value())),
                    new FixedBackOff(10, 2));
        }

        @Bean
        TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        Handled handled(Work work) {
            return new Handled(work);
        }
    }

    static class Handled {

        private final Work work;

        Handled(Work work) {
            this.work = work;
        }

        @KafkaListener(topics = "handled${suffix}", groupId = "handled${suffix}")
        @IdempotentListener("handled")
        void onRecord(String payload) {
            this.work.on(payload, 0);
        }

        @KafkaListener(topics = "handled-batch${suffix}", groupId = "handled-batch${suffix}", batch = "true")
        @IdempotentListener("handled-batch")
        void onBatch(List<ConsumerRecord<String, String>> records) {
            List<ConsumerRecord<String, String>> ordered = new ArrayList<>(records);
            for (int i = 0; i < ordered.size(); i++) {
                this.work.on(ordered.get(i).value(), i);
            }
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50))
        @KafkaListener(topics = "retried${suffix}", groupId = "retried${suffix}")
        @IdempotentListener("retried")
        void onRetried(String payload) {
            this.work.on(payload, 0);
        }
    }
}
