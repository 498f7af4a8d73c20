package dev.idempotency.crash;

import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Runs in a JVM of its own, so that it can die. */
final class CrashingApplication {

    /** Where it dies: before, in and after the steps of its message. */
    enum CrashPoint {
        BEFORE_CHARGE,
        CHARGED_AND_NOT_RECORDED,
        CHARGE_RECORDED,
        MAIL_ANNOUNCED,
        MAILED_AND_NOT_RECORDED,
        MAIL_RECORDED,

        /** It is killed, and waits for that with a message that is far from the last, if it comes so far. */
        KILLED,
        NEVER
    }

    /** Lets whoever is started again take the dead one's place at once, not when its session has timed out. */
    static final String SAME_MEMBER = "spring.kafka.consumer.properties.group.instance.id=the-one-that-dies";

    private static final int RECORDS_A_POLL = 100;

    private CrashingApplication() {}

    /** Through a producer that needs no application. */
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
                        "spring.kafka.consumer.max-poll-records=" + RECORDS_A_POLL,
                        "idempotency.dead-letters.redrives-per-second=5"),
                Class.forName(arguments[4]));
    }

    static void die() {
        Runtime.getRuntime().halt(137);
    }
}
