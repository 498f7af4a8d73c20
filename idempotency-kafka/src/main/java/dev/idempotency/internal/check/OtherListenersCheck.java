package dev.idempotency.internal.check;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.StartupCheck;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.failure.ErrorHandlerInstaller;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.StringUtils;

/**
 * Checks a listener against the others of the application: it alone claims under its name, always under the same one, gets all
 * messages of its topics, and no dead letters of others. The suffix is {@code null} if none are published.
 */
record OtherListenersCheck(
        ConfigurableListableBeanFactory beanFactory,
        @Nullable String suffix,
        Supplier<List<ProtectedListener>> all) {

    void check(ProtectedListener listener, Report report) {
        checkDeadLetters(listener, report);
        if (listener.isForRetries()) {
            return;
        }
        checkOthers(listener, report);
        checkTopics(listener, report);
        boolean named = StringUtils.hasText(listener.annotation().consumer());
        Stream<String> expressions = named ? Stream.of(listener.annotation().consumer()) : groupExpressions(listener);
        if (expressions.anyMatch(this::isRandom)) {
            report.add(
                    StartupCheck.UNSTABLE_CONSUMER_NAME,
                    "Its consumer name '%s' is %s."
                            .formatted(
                                    listener.consumer().name(), named ? "random" : "made of a group id that is random"),
                    "Name the consumer in @IdempotentListener(consumer = …), always by the same name.");
        }
    }

    private void checkOthers(ProtectedListener listener, Report report) {
        String name = listener.consumer().name();
        this.all.get().stream()
                .filter(other -> isAnotherOfTheSameName(other, listener))
                .min(Comparator.comparing(other -> other.consumer().listener()))
                .ifPresent(other -> report.add(
                        StartupCheck.SHARED_CONSUMER_NAME,
                        "Its consumer name '%s' is also used by %s; this one reads %s, the other %s."
                                .formatted(name, other.consumer().listener(), sources(listener), sources(other)),
                        "Name each differently in @IdempotentListener(consumer = …), or name all topics in one"
                                + " @KafkaListener(topics = …)."));
        if (this.beanFactory.getBeansOfType(IdempotentConsumer.class).values().stream()
                .anyMatch(declared -> declared.name().equals(name))) {
            report.add(
                    StartupCheck.SHARED_CONSUMER_NAME,
                    "Its consumer name '%s' is also used by an IdempotentConsumer, whose ids are claimed by code."
                            .formatted(name),
                    "Name each differently, in @IdempotentListener(consumer = …) and in"
                            + " IdempotentConsumer.named(…).");
        }
    }

    private void checkTopics(ProtectedListener listener, Report report) {
        String group = listener.container().getGroupId();
        for (String topic : subscriptions(listener)) {
            if (this.all.get().stream()
                    .anyMatch(other -> !other.method().equals(listener.method())
                            && other.container() != listener.container()
                            && Objects.equals(other.container().getGroupId(), group)
                            && subscriptions(other).contains(topic))) {
                report.add(
                        StartupCheck.SHARED_TOPIC,
                        "The group '%s' has several listeners for the topic '%s'.".formatted(group, topic),
                        "Give each listener another groupId, or let one listener handle the topic.");
            }
        }
    }

    private static List<String> subscriptions(ProtectedListener listener) {
        String[] topics = listener.container().getContainerProperties().getTopics();
        return (topics != null) ? List.of(topics) : List.of();
    }

    /** Containers for the same topics and group share the messages among them, unless partitions are assigned by hand. */
    private static boolean isAnotherOfTheSameName(ProtectedListener other, ProtectedListener listener) {
        ConsumerDescription one = listener.consumer();
        ConsumerDescription another = other.consumer();
        boolean assigned = listener.container().getContainerProperties().getTopicPartitions() != null;
        return other.container() != listener.container()
                && !other.isForRetries()
                && another.name().equals(one.name())
                && !(Objects.equals(another.groupId(), one.groupId())
                        && Set.copyOf(another.topics()).equals(Set.copyOf(one.topics()))
                        && (other.method().equals(listener.method()) || !assigned));
    }

    private static String sources(ProtectedListener listener) {
        return "topics %s in group '%s'"
                .formatted(listener.consumer().topics(), listener.consumer().groupId());
    }

    private static Stream<String> groupExpressions(ProtectedListener listener) {
        return listener.kafkaListeners().flatMap(annotation -> {
            Stream<String> own = Stream.of(annotation.groupId(), annotation.idIsGroup() ? annotation.id() : "");
            return own.anyMatch(StringUtils::hasText)
                    ? Stream.of(annotation.groupId(), annotation.id())
                    : Stream.of("${spring.kafka.consumer.group-id:}");
        });
    }

    /** A random value is another one each time that it is resolved, behind whatever property it is. */
    private boolean isRandom(String expression) {
        return expression.contains("randomUUID") || !Objects.equals(resolve(expression), resolve(expression));
    }

    private @Nullable String resolve(String expression) {
        try {
            return this.beanFactory.resolveEmbeddedValue(expression);
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }

    /** All groups on a topic, and {@code @RetryableTopic}, publish to one dead-letter topic by default. */
    private void checkDeadLetters(ProtectedListener listener, Report report) {
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
