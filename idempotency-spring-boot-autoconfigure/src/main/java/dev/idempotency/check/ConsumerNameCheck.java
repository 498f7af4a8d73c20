package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import dev.idempotency.definition.ProtectedListener;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.util.StringUtils;

/** Whether the listener alone claims under its name, and always under the same one. */
final class ConsumerNameCheck implements ListenerCheck {

    private final Supplier<List<ProtectedListener>> all;

    ConsumerNameCheck(Supplier<List<ProtectedListener>> all) {
        this.all = all;
    }

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        if (isForRetries(listener)) {
            return;
        }
        this.all.get().stream()
                .filter(other -> isAnotherOfTheSameName(other, listener))
                .findFirst()
                .ifPresent(other -> findings.add(
                        Check.SHARED_CONSUMER_NAME,
                        listener,
                        "Its consumer name '%s' is also that of %s; this one is for %s, the other for %s."
                                .formatted(
                                        listener.consumer().name(),
                                        other.consumer().listener(),
                                        sources(listener),
                                        sources(other)),
                        "Give each a name of its own in @IdempotentListener(consumer = …), or name all topics in one"
                                + " @KafkaListener(topics = …)."));
        if (isNamedByGroup(listener) && groupExpressions(listener).anyMatch(ConsumerNameCheck::isRandom)) {
            findings.add(
                    Check.UNSTABLE_CONSUMER_NAME,
                    listener,
                    "Its consumer name '%s' is made of a group id that is random."
                            .formatted(listener.consumer().name()),
                    "Name the consumer in @IdempotentListener(consumer = …).");
        }
    }

    private static boolean isForRetries(ProtectedListener listener) {
        return listener.container().getMainListenerId() != null;
    }

    /**
     * Several containers for the same topics and group share the messages among them, as one with more threads does;
     * unless partitions are assigned to them by hand, and each gets all messages of its own.
     */
    private static boolean isAnotherOfTheSameName(ProtectedListener other, ProtectedListener listener) {
        return other.container() != listener.container()
                && !isForRetries(other)
                && other.consumer().name().equals(listener.consumer().name())
                && !(Objects.equals(
                                other.consumer().groupId(), listener.consumer().groupId())
                        && sameElements(
                                other.consumer().topics(), listener.consumer().topics())
                        && (other.method().equals(listener.method()) || !haveCommonPartitions(other, listener)));
    }

    private static boolean haveCommonPartitions(ProtectedListener one, ProtectedListener another) {
        TopicPartitionOffset[] ones = one.container().getContainerProperties().getTopicPartitions();
        TopicPartitionOffset[] others =
                another.container().getContainerProperties().getTopicPartitions();
        if (ones == null || others == null) {
            return ones != others;
        }
        return Arrays.stream(ones).anyMatch(partition -> Arrays.stream(others)
                .anyMatch(other -> partition.getTopic().equals(other.getTopic())
                        && (partition.getPartition() == other.getPartition()
                                || partition.getPartition() < 0
                                || other.getPartition() < 0)));
    }

    private static boolean sameElements(Collection<String> one, Collection<String> another) {
        return new HashSet<>(one).equals(new HashSet<>(another));
    }

    private static String sources(ProtectedListener listener) {
        return "topics %s in group '%s'"
                .formatted(listener.consumer().topics(), listener.consumer().groupId());
    }

    private static boolean isNamedByGroup(ProtectedListener listener) {
        IdempotentListener annotation =
                IdempotentListenerAnnotations.find(listener.method(), AopUtils.getTargetClass(listener.bean()));
        return annotation != null && !StringUtils.hasText(annotation.consumer());
    }

    private static Stream<String> groupExpressions(ProtectedListener listener) {
        Class<?> type = AopUtils.getTargetClass(listener.bean());
        return Stream.of(listener.method(), type)
                .flatMap(element ->
                        AnnotatedElementUtils.findMergedRepeatableAnnotations(element, KafkaListener.class).stream())
                .flatMap(annotation -> Stream.of(annotation.groupId(), annotation.id()));
    }

    private static boolean isRandom(String expression) {
        return expression.contains("${random.") || expression.contains("randomUUID") || expression.contains("nanoTime");
    }
}
