package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;

/** Runs in a separate JVM that can be killed. */
final class CrashingApplication {

    /** The point of the crash: at the tenth message, or before, in or after the steps of the first message. */
    enum CrashPoint {
        BEFORE_COMMIT,
        AFTER_COMMIT,
        BEFORE_CHARGE,
        CHARGED_AND_NOT_RECORDED,
        CHARGE_RECORDED,
        MAIL_ANNOUNCED,
        MAILED_AND_NOT_RECORDED,
        MAIL_RECORDED,

        /** Killed from outside; waits for that at a message far from the last one, if it gets so far. */
        KILLED,
        NEVER
    }

    /** Lets a restarted process replace the dead one immediately, without waiting for its session to time out. */
    static final String SAME_MEMBER = "spring.kafka.consumer.properties.group.instance.id=the-one-that-dies";

    private static final int MESSAGES_BEFORE_CRASH = 10;

    /** Two processes together do not reach the last message. */
    private static final int MESSAGES_BEFORE_KILL = CrashIT.MESSAGES / 2 - 50;

    private static final int RECORDS_A_POLL = 100;

    private CrashingApplication() {}

    /** Sends messages with a producer that needs no application. */
    static void send(String topic, int messages) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", TestKafka.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < messages; i++) {
                producer.send(TestApplication.message(topic, null, "id-" + i, "effect-" + i));
            }
        }
    }

    static Process launch(TestDatabase database, String topic, String group, CrashPoint crash, Class<?> listener)
            throws IOException {
        String log = "crash-" + listener.getSimpleName() + "-" + crash;
        return ChildJvm.start(
                CrashingApplication.class, log, database.jdbcUrl(), topic, group, crash.name(), listener.getName());
    }

    public static void main(String[] arguments) throws ClassNotFoundException {
        TestApplication.start(
                arguments[0],
                List.of(
                        SAME_MEMBER,
                        "topic=" + arguments[1],
                        "group=" + arguments[2],
                        "crash=" + arguments[3],
                        "spring.kafka.consumer.max-poll-records=" + RECORDS_A_POLL),
                Class.forName(arguments[4]),
                DiesAfterCommit.class);
        System.out.println("started");
    }

    static void die() {
        Runtime.getRuntime().halt(137);
    }

    abstract static class OfRecords extends Work {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        void on(String payload) {
            process(payload);
        }
    }

    @IdempotentListener
    static class Listener extends OfRecords {}

    @IdempotentListener(consumer = "at-commit", claimAtCommit = "true")
    static class AtCommitListener extends OfRecords {}

    @IdempotentListener(transactionPerPoll = "true")
    static class PollListener extends OfRecords {}

    /** The version increases from message to message among those whose numbers have the same length. */
    @IdempotentListener(
            strategy = DeduplicationStrategy.VERSION,
            key = "#record.value().length()",
            version = "#record.value().substring(7)",
            transactionPerPoll = "true")
    static class VersionListener extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class OffsetListener extends OfRecords {}

    /** Claims from code, at start-up. */
    static class Importer extends Work implements ApplicationRunner {

        private final IdempotentOperations operations;

        Importer(IdempotentOperations operations) {
            this.operations = operations;
        }

        @Bean
        static IdempotentConsumer imports() {
            return IdempotentConsumer.named("import");
        }

        @Override
        public void run(ApplicationArguments arguments) {
            for (int i = 0; i < CrashIT.MESSAGES; i++) {
                String name = "effect-" + i;
                String result = this.operations
                        .execute(new MessageId("import", name), String.class, () -> {
                            process(name);
                            return "did " + name;
                        })
                        .result();
                assertThat(result).isEqualTo("did " + name);
            }
        }
    }

    abstract static class Work extends HasEffects {

        private final Map<Thread, Integer> calls = new ConcurrentHashMap<>();

        @Value("${crash}")
        private CrashPoint crash;

        final void process(String payload) {
            this.effects.happen(payload);
            int call = this.calls.merge(Thread.currentThread(), 1, Integer::sum);
            if (call == MESSAGES_BEFORE_CRASH && this.crash == CrashPoint.BEFORE_COMMIT) {
                die();
            }
            if (call > MESSAGES_BEFORE_KILL && this.crash == CrashPoint.KILLED) {
                new CompletableFuture<>().join();
            }
        }
    }

    /** Messages are reported after the commit of the transaction and before that of the offset. */
    static class DiesAfterCommit implements IdempotencyEventListener {

        private final CrashPoint crash;
        private int processed;

        DiesAfterCommit(@Value("${crash}") CrashPoint crash) {
            this.crash = crash;
        }

        @Override
        public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
            return new IdempotencyEventListener() {

                @Override
                public void processed(MessageId id, RecordCoordinates coordinates) {
                    if (++DiesAfterCommit.this.processed == MESSAGES_BEFORE_CRASH
                            && DiesAfterCommit.this.crash == CrashPoint.AFTER_COMMIT) {
                        die();
                    }
                }
            };
        }
    }
}
