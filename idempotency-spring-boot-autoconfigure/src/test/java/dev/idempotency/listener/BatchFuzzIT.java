package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.BrokenCommits;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.backoff.ExponentialBackOff;
import org.springframework.util.backoff.FixedBackOff;

/** Thousands of records, random failures of every kind, and at the end each message took effect exactly once. */
@Tag("slow")
class BatchFuzzIT extends ApplicationTest {

    private static final int MESSAGES = 500;
    private static final Set<String> GIVEN_UP = new ConcurrentSkipListSet<>();

    @Override
    protected int partitions() {
        return 3;
    }

    @ParameterizedTest
    @CsvSource({
        "Automatic, batch, springs-default",
        "Automatic, batch, recovering",
        "Manual, manual, recovering",
        "Manual, manual_immediate, exponential",
        "OneByOne, batch, springs-default",
        "OneByOne, batch, recovering",
        "Automatic, batch, provided",
        "Manual, manual, provided"
    })
    void nothingIsLostAndNothingIsAppliedTwice(String listener, String ackMode, String errorHandler) throws Exception {
        GIVEN_UP.clear();
        boolean oneByOne = listener.equals("OneByOne");
        boolean recovers = errorHandler.equals("recovering");
        Random random = new Random(42);
        try (TestApplication app = start(
                List.of(
                        // Messages are to come slowly enough for many batches, each of which may fail.
                        "spring.kafka.producer.properties.linger.ms=5",
                        "spring.kafka.listener.type=" + (oneByOne ? "single" : "batch"),
                        "spring.kafka.listener.ack-mode=" + ackMode,
                        "spring.kafka.consumer.max-poll-records=50",
                        "spring.kafka.listener.concurrency=2",
                        "idempotency.errors.initial-interval=1ms",
                        "idempotency.errors.max-interval=20ms",
                        "idempotency.errors.max-attempts=30",
                        "idempotency.errors.outage.max-interval=20ms",
                        "handler=" + errorHandler),
                Class.forName(BatchFuzzIT.class.getName() + "$" + listener),
                Handlers.class)) {
            Set<String> expected = new TreeSet<>();
            for (int i = 0; i < MESSAGES; i++) {
                boolean poison = recovers && i % 250 == 7;
                String name = (poison ? "poison-" : "message-") + i;
                expected.add(name);
                int copies = (random.nextInt(5) == 0) ? 2 : 1;
                for (int copy = 0; copy < copies; copy++) {
                    app.send(new ProducerRecord<>(
                            this.topic,
                            random.nextInt(partitions()),
                            (String) null,
                            name,
                            List.of(new RecordHeader("message-id", name.getBytes(StandardCharsets.UTF_8)))));
                }
            }
            app.awaitCaughtUp(this.group, this.topic);
            Map<String, Integer> counts = app.bean(Effects.class).counts();
            assertThat(counts)
                    .allSatisfy((name, count) -> assertThat(count).as(name).isOne());
            Set<String> accountedFor = new TreeSet<>(counts.keySet());
            accountedFor.addAll(GIVEN_UP);
            assertThat(accountedFor).isEqualTo(expected);
            assertThat(counts.keySet()).noneMatch(name -> name.startsWith("poison-"));
            if (oneByOne) {
                assertThat(GIVEN_UP).allMatch(name -> name.startsWith("poison-"));
            }
        }
    }

    static class Handlers {

        @Bean
        @ConditionalOnExpression("'${handler}' != 'provided'")
        CommonErrorHandler errorHandler(@Value("${handler}") String handler) {
            return switch (handler) {
                case "recovering" ->
                    new DefaultErrorHandler(
                            (record, ex) -> GIVEN_UP.add(record.value().toString()), new FixedBackOff(0, 15));
                case "exponential" -> {
                    ExponentialBackOff backOff = new ExponentialBackOff(1, 2);
                    backOff.setMaxInterval(20);
                    backOff.setMaxAttempts(20);
                    yield new DefaultErrorHandler(backOff);
                }
                default -> new DefaultErrorHandler();
            };
        }
    }

    static class Automatic extends RandomlyFailing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            processOrFail(payloads);
        }
    }

    static class Manual extends RandomlyFailing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            processOrFail(payloads);
            if (oneIn(16)) {
                acknowledgment.nack(oneOf(payloads), Duration.ofMillis(1));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    /** In one transaction per poll. */
    static class OneByOne extends RandomlyFailing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            process(payload);
            if (oneIn(200)) {
                throw new IllegalStateException("random failure");
            }
            if (oneIn(200)) {
                failAtCommit();
            }
        }
    }

    @Import({Effects.class, BrokenCommits.class})
    abstract static class RandomlyFailing {

        private final Random random = new Random(7);

        @Autowired
        private Effects effects;

        @Autowired
        private BrokenCommits commits;

        boolean oneIn(int many) {
            return this.random.nextInt(many) == 0;
        }

        int oneOf(List<?> list) {
            return this.random.nextInt(list.size());
        }

        void processOrFail(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                try {
                    process(payloads.get(i));
                } catch (IllegalStateException ex) {
                    throw new BatchListenerFailedException("poison", ex, i);
                }
            }
            if (oneIn(16)) {
                throw new IllegalStateException("random failure");
            }
            if (oneIn(16)) {
                throw new BatchListenerFailedException("random record", oneOf(payloads));
            }
            if (oneIn(16)) {
                failAtCommit();
            }
        }

        void process(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("poison")) {
                throw new IllegalStateException("poison");
            }
        }

        void failAtCommit() {
            this.commits.breakCommit();
        }
    }
}
