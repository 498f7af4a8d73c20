package dev.idempotency.listener;

import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import java.util.ArrayList;
import java.util.List;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** A test whose messages come as one batch, with the provided error handler and three attempts. */
abstract class OneBatchTest extends ApplicationTest {

    /** Starts the listeners once all has been sent; a message is written {@code id:payload}. */
    TestApplication startWith(List<String> properties, Class<?> listener, String... messages) {
        List<String> all = new ArrayList<>();
        all.add("spring.kafka.listener.type=" + listenerType());
        all.add("spring.kafka.listener.auto-startup=false");
        all.add("idempotency.errors.initial-interval=10ms");
        all.add("idempotency.errors.max-interval=20ms");
        all.add("idempotency.errors.max-attempts=3");
        all.addAll(properties);
        TestApplication app = start(all, listener);
        for (String message : messages) {
            int colon = message.indexOf(':');
            String id = message.substring(0, colon);
            app.send(this.topic, id.isEmpty() ? null : id, message.substring(colon + 1));
        }
        app.bean(KafkaListenerEndpointRegistry.class).getListenerContainers().forEach(container -> container.start());
        return app;
    }

    String listenerType() {
        return "batch";
    }

    List<String> deadLetters() {
        return TopicContents.values(this.topic + "-dlt");
    }
}
