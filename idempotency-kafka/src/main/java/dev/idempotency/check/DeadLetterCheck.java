package dev.idempotency.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.check.Findings.Report;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.kafka.ListenerContainers;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Checks whether a listener receives the dead letters of another consumer in this application: all groups on a topic,
 * and {@code @RetryableTopic}, publish to one topic by default. The suffix is {@code null} if none are published.
 */
record DeadLetterCheck(
        ListableBeanFactory beanFactory, @Nullable String suffix, Supplier<List<ProtectedListener>> all) {

    void check(ProtectedListener listener, Report report) {
        topicsOf(listener).forEach(topic -> containers()
                .filter(reader -> reads(reader, topic) && takesForAnothers(reader, topic, listener))
                .forEach(reader -> report.add(
                        StartupCheck.SHARED_DEAD_LETTERS,
                        ((reader.getMainListenerId() != null)
                                        ? "Its dead letters go to '%s', and so to another listener's @DltHandler, in group '%s'."
                                        : "Its dead letters and other consumers' go to '%s', and the group '%s' reads all of them.")
                                .formatted(topic, reader.getGroupId()),
                        "Use another topic for one of them: set @RetryableTopic(dltTopicSuffix = …) or"
                                + " idempotency.dead-letters.suffix. Or skip, in what reads it, letters whose header"
                                + " kafka_dlt-original-consumer-group names another group, and relax this check.")));
    }

    private Stream<String> topicsOf(ProtectedListener listener) {
        return Stream.concat(providedTopics(listener).stream(), retriedTopics(listener));
    }

    private boolean takesForAnothers(
            AbstractMessageListenerContainer<?, ?> reader, String topic, ProtectedListener listener) {
        return (reader.getMainListenerId() != null)
                ? !retries(listener, reader)
                : this.all.get().stream()
                        .anyMatch(other -> !other.consumer()
                                        .name()
                                        .equals(listener.consumer().name())
                                && topicsOf(other).anyMatch(topic::equals));
    }

    /** Topics that the provided error handler publishes to. For a pattern they are not known. */
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
                .flatMap(reader -> ListenerContainers.topicsOf(reader).stream());
    }

    private static boolean retries(ProtectedListener listener, AbstractMessageListenerContainer<?, ?> reader) {
        String main = reader.getMainListenerId();
        return main != null && main.equals(listener.container().getListenerId());
    }

    static boolean reads(AbstractMessageListenerContainer<?, ?> reader, String topic) {
        Pattern pattern = reader.getContainerProperties().getTopicPattern();
        return (pattern != null)
                ? pattern.matcher(topic).matches()
                : ListenerContainers.topicsOf(reader).contains(topic);
    }

    private Stream<AbstractMessageListenerContainer<?, ?>> containers() {
        return this.beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class).stream()
                .flatMap(registry -> registry.getListenerContainers().stream())
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .map(container -> (AbstractMessageListenerContainer<?, ?>) container);
    }
}
