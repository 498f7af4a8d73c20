package dev.idempotency.definition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;
import org.springframework.kafka.annotation.KafkaListener;

@ExtendWith(OutputCaptureExtension.class)
class ConsumersInLogIT {

    @Test
    void theLogNamesAllConsumersInOneBlockAndLateOnesWhenTheyCome(CapturedOutput output) {
        String topic = TestKafka.createTopic("logged", 1);
        try (TestDatabase database = TestPostgres.createDatabase();
                TestApplication app = TestApplication.start(
                        database, List.of("topic=" + topic), First.class, Second.class, Late.class)) {
            List<String> block = output.getOut()
                    .lines()
                    .dropWhile(line -> !line.contains("Idempotent consumers"))
                    .limit(3)
                    .toList();
            assertThat(block.get(0)).endsWith("Idempotent consumers: 2");
            assertThat(block.subList(1, 3))
                    .contains("  'first': First.on on [%s], key from expression '#record.key()', remembered for 3d"
                            .formatted(topic))
                    .anyMatch(line -> line.startsWith("  'second': Second.on on "));

            app.bean(Late.class);
            assertThat(output).contains("Idempotent consumers: 1").contains("  'late': Late.on on ");

            app.context().stop();
            app.context().start();
            assertThat(output.getOut().lines().filter(line -> line.startsWith("  'first': ")))
                    .hasSize(1);
        }
    }

    static class First {

        @KafkaListener(topics = "${topic}", groupId = "first")
        @IdempotentListener(consumer = "first", key = "#record.key()", retention = "3d")
        void on(String payload) {}
    }

    static class Second {

        @KafkaListener(topics = "${topic}", groupId = "second")
        @IdempotentListener("second")
        void on(String payload) {}
    }

    @Lazy
    static class Late {

        @KafkaListener(topics = "${topic}", groupId = "late")
        @IdempotentListener("late")
        void on(String payload) {}
    }
}
