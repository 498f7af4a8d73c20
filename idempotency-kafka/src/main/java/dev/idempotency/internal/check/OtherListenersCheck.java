package dev.idempotency.internal.check;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.StartupCheck;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ProtectedListener;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Checks a listener against the others of the application: it alone claims under its name, always under the same one, and gets
 * all messages of its topics.
 */
record OtherListenersCheck(ConfigurableListableBeanFactory beanFactory, Supplier<List<ProtectedListener>> all) {

    void check(ProtectedListener listener, Report report) {
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
}
