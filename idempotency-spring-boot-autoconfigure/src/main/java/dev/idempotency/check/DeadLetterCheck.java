package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.check.Findings.Report;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.kafka.ContainerFacts;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Checks whether anybody takes the dead letters of one consumer for those of another: all groups on a topic, and
 * {@code @RetryableTopic}, publish to the same dead-letter topic by default. Readers in other applications are not seen.
 */
final class DeadLetterCheck {

    private final ListableBeanFactory beanFactory;
    private final @Nullable String suffix;
    private final Supplier<List<ProtectedListener>> all;

    /** {@code suffix} is {@code null} if the provided error handler publishes no dead letters. */
    DeadLetterCheck(ListableBeanFactory beanFactory, @Nullable String suffix, Supplier<List<ProtectedListener>> all) {
        this.beanFactory = beanFactory;
        this.suffix = suffix;
        this.all = all;
    }

    void check(ProtectedListener listener, Report report) {
        for (String topic : Stream.concat(providedTopics(listener).stream(), retriedTopics(listener))
                .toList()) {
            boolean shared = this.all.get().stream()
                    .filter(other ->
                            !other.consumer().name().equals(listener.consumer().name()))
                    .anyMatch(other -> Stream.concat(providedTopics(other).stream(), retriedTopics(other))
                            .anyMatch(topic::equals));
            containers()
                    .filter(reader -> reads(reader, topic))
                    .filter(reader -> (reader.getMainListenerId() != null) ? !retries(listener, reader) : shared)
                    .forEach(reader -> report.add(
                            Check.SHARED_DEAD_LETTERS,
                            ((reader.getMainListenerId() != null)
                                            ? "Its dead letters go to '%s', and so to another listener's @DltHandler, in group '%s'."
                                            : "Its dead letters go to '%s', as do those of others, and the group '%s' reads all.")
                                    .formatted(topic, reader.getGroupId()),
                            "Give one of them a topic of its own: set @RetryableTopic(dltTopicSuffix = …) or"
                                    + " idempotency.errors.dead-letter.suffix. Or skip, in what reads it, letters whose header"
                                    + " kafka_dlt-original-consumer-group names another group, and relax this check."));
        }
    }

    /** Topics that the provided error handler publishes to. Those of a pattern are not known. */
    List<String> providedTopics(ProtectedListener listener) {
        boolean published = this.suffix != null
                && !listener.isForRetries()
                && listener.container().getContainerProperties().getTopicPattern() == null
                && ErrorHandlerInstaller.isProvided(listener.container());
        return published
                ? listener.consumer().topics().stream()
                        .map(topic -> topic + this.suffix)
                        .toList()
                : List.of();
    }

    /** Topics at the end of the listener's retry topics, whose containers call a {@code @DltHandler} and are not protected. */
    private Stream<String> retriedTopics(ProtectedListener listener) {
        return containers()
                .filter(reader -> retries(listener, reader)
                        && this.all.get().stream().noneMatch(other -> other.container() == reader))
                .flatMap(reader -> ContainerFacts.topicsOf(reader).stream());
    }

    private static boolean retries(ProtectedListener listener, AbstractMessageListenerContainer<?, ?> reader) {
        return reader.getMainListenerId() != null
                && Objects.equals(
                        reader.getMainListenerId(), listener.container().getListenerId());
    }

    private static boolean reads(AbstractMessageListenerContainer<?, ?> reader, String topic) {
        Pattern pattern = reader.getContainerProperties().getTopicPattern();
        return (pattern != null)
                ? pattern.matcher(topic).matches()
                : ContainerFacts.topicsOf(reader).contains(topic);
    }

    private Stream<AbstractMessageListenerContainer<?, ?>> containers() {
        return this.beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class).stream()
                .flatMap(registry -> registry.getListenerContainers().stream())
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .map(container -> (AbstractMessageListenerContainer<?, ?>) container);
    }
}
