package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentListener;
import dev.idempotency.internal.kafka.CapturingDeserializer;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import dev.idempotency.internal.kafka.TopicCoordinates;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.kafka.listener.ConsumerSeekAware.ConsumerSeekCallback;
import org.springframework.util.ClassUtils;

/**
 * Tells a native image what the library finds by name: members, and the scripts of its tables.
 *
 * <p>What belongs to a bean says so there ({@code @Reflective}, {@code @RegisterReflectionForBinding}). Payloads are known
 * by {@code @KafkaListener}; what else a key expression calls is for the application to register.
 */
final class IdempotencyRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("dev/idempotency/schema/**");
        ReflectionHints reflection = hints.reflection();
        reflection.registerType(IdempotentListener.class, MemberCategory.INVOKE_DECLARED_METHODS);
        // For start-up checks.
        Stream.of(
                        "org.springframework.orm.jpa.JpaTransactionManager",
                        "org.springframework.orm.jpa.hibernate.HibernateTransactionManager")
                .forEach(manager -> reflection.registerTypeIfPresent(
                        classLoader,
                        manager,
                        hint -> hint.withMethod("getDataSource", List.of(), ExecutableMode.INVOKE)));
        if (ClassUtils.isPresent("org.springframework.kafka.annotation.KafkaListener", classLoader)
                && ClassUtils.isPresent("dev.idempotency.internal.kafka.SpringKafkaInternals", classLoader)) {
            Kafka.register(hints, classLoader);
        }
    }

    /** Hints that need Kafka. */
    private static final class Kafka {

        static void register(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            // Used as a consumer if there is none.
            hints.proxies().registerJdkProxy(Consumer.class);
            hints.proxies().registerJdkProxy(ConsumerSeekCallback.class);
            ReflectionHints reflection = hints.reflection();
            SpringKafkaInternals.registerHints(reflection, classLoader);
            // Kafka makes it by its name.
            reflection.registerType(CapturingDeserializer.class, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
            // For key expressions.
            Stream.of(ConsumerRecord.class, Headers.class, Header.class, TopicCoordinates.class)
                    .forEach(type -> reflection.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS));
            reflection.registerTypeIfPresent(
                    classLoader, "dev.idempotency.internal.key.JsonPathFunction", MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }
}
