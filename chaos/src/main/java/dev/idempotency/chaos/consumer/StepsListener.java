package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.StepLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Calls an external system in steps: a file with a line per call, which no fault affects. */
@Component
@Profile("steps")
class StepsListener {

    private final Effects effects;
    private final Path calls;

    StepsListener(Effects effects, @Value("${chaos.calls}") Path calls) {
        this.effects = effects;
        this.calls = calls;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "steps")
    @IdempotentListener(consumer = "steps")
    void on(String payload) {
        String id = MessageKind.idOfPayload(payload);
        String attempt = UUID.randomUUID().toString();
        IdempotencyContext context = IdempotencyContext.current();
        write(id, attempt, StepLine.Event.BEGUN);
        context.step("charge", String.class, key -> {
            write(id, attempt, StepLine.Event.CHARGED);
            return key;
        });
        write(id, attempt, StepLine.Event.RECORDED);
        context.stepAtMostOnce("mail", () -> write(id, attempt, StepLine.Event.MAILED));
        this.effects.apply("steps", payload);
    }

    private void write(String id, String attempt, StepLine.Event event) {
        try {
            Files.writeString(
                    this.calls,
                    StepLine.now(id, attempt, event) + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
