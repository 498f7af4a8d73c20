package dev.idempotency.crash;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

/** Runs in a JVM of its own, so that it can die. */
final class CrashingApplication {

    /** Where it dies, at the tenth message. */
    enum CrashPoint {
        BEFORE_COMMIT,
        AFTER_COMMIT,
        NEVER
    }

    private static final int MESSAGES_BEFORE_CRASH = 10;

    private CrashingApplication() {}

    public static void main(String[] arguments) {
        TestApplication.start(
                arguments[0],
                List.of("topic=" + arguments[1], "group=" + arguments[2], "crash=" + arguments[3]),
                Listener.class,
                DiesAfterCommit.class);
        System.out.println("started");
    }

    private static void die() {
        Runtime.getRuntime().halt(137);
    }

    @Import(Effects.class)
    static class Listener {

        private final Effects effects;
        private final CrashPoint crash;
        private int calls;

        Listener(Effects effects, @Value("${crash}") CrashPoint crash) {
            this.effects = effects;
            this.crash = crash;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            if (++this.calls == MESSAGES_BEFORE_CRASH && this.crash == CrashPoint.BEFORE_COMMIT) {
                die();
            }
        }
    }

    /** Observers hear of a message after the database's commit and before the offset's. */
    static class DiesAfterCommit implements IdempotencyObserver {

        private final CrashPoint crash;
        private int processed;

        DiesAfterCommit(@Value("${crash}") CrashPoint crash) {
            this.crash = crash;
        }

        @Override
        public ConsumerObserver observe(ConsumerDescription consumer) {
            return new ConsumerObserver() {

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
