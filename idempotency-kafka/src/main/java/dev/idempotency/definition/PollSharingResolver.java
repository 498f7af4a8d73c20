package dev.idempotency.definition;

import dev.idempotency.StartupCheck;
import dev.idempotency.kafka.ListenerContainers;
import dev.idempotency.store.ClaimedTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;

/**
 * Decides, once per container, whether the records of a poll share one transaction. Their container becomes a batch
 * container, which not all listeners allow.
 */
final class PollSharingResolver {

    /**
     * The decision.
     *
     * @param isGranted whether records share a transaction
     * @param demanded whether a listener says that they have to
     * @param obstacles why they cannot, where they should
     */
    record Decision(boolean isGranted, boolean demanded, List<ListenerFault> obstacles) {

        /** Returns the faults that keep the application from starting. */
        List<ListenerFault> faults() {
            return this.demanded ? this.obstacles : List.of();
        }
    }

    private static final List<AckMode> BY_THE_LISTENER = List.of(AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE);

    private final boolean byDefault;
    private final ConfigurableListableBeanFactory beanFactory;
    private final AnnotationTexts texts;

    PollSharingResolver(boolean byDefault, ConfigurableListableBeanFactory beanFactory) {
        this.byDefault = byDefault;
        this.beanFactory = beanFactory;
        this.texts = new AnnotationTexts(beanFactory);
    }

    /**
     * Decides for the protected methods behind one container.
     *
     * @param candidates its methods: one, or all the handlers of a class
     * @param listeners the same, resolved
     */
    Decision decide(List<ListenerCandidate> candidates, List<ProtectedListener> listeners) {
        ListenerCandidate first = candidates.get(0);
        Set<String> asked = candidates.stream()
                .map(candidate ->
                        this.texts.resolveIfPossible(candidate.annotation().transactionPerPoll()))
                .collect(Collectors.toSet());
        boolean demanded = asked.contains("true");
        boolean wanted = demanded || (this.byDefault && !asked.contains("false"));
        if (!wanted || ListenerContainers.deliversBatches(first.container())) {
            return new Decision(false, false, List.of());
        }
        List<ListenerFault> obstacles = new ArrayList<>();
        refuseContainer(first.container(), demanded, obstacles);
        refuseMethod(first, listeners.get(0), obstacles);
        boolean possible = obstacles.isEmpty() && listeners.get(0).definition() != null;
        return new Decision(possible, demanded, List.copyOf(obstacles));
    }

    private static void refuseContainer(
            AbstractMessageListenerContainer<?, ?> container, boolean demanded, List<ListenerFault> obstacles) {
        ContainerProperties properties = container.getContainerProperties();
        refuseIf(
                BY_THE_LISTENER.contains(properties.getAckMode()),
                "By its acknowledgment mode %s the listener decides on each record, and the records of a poll are"
                                .formatted(properties.getAckMode())
                        + " committed, or not, together.",
                "Set spring.kafka.listener.ack-mode=batch or, from Spring Kafka 4.1, @KafkaListener(ackMode = \"BATCH\")",
                obstacles);
        refuseIf(
                container.getRecordInterceptor() != null
                        || properties.isDeliveryAttemptHeader()
                        || properties.getAdviceChain().length > 0,
                "Its container has a RecordInterceptor, a delivery attempt header or an advice chain, which are not for the"
                        + " records of a batch.",
                "Remove these from the container factory",
                obstacles);
        // A demand is answered by the check of error handlers, which can be relaxed.
        refuseIf(
                !demanded && ListenerContainers.ignoresBatches(container.getCommonErrorHandler()),
                "Its container's error handler does not implement handleBatch.",
                "Use a DefaultErrorHandler",
                obstacles);
    }

    private void refuseMethod(ListenerCandidate candidate, ProtectedListener known, List<ListenerFault> obstacles) {
        Class<?> result = candidate.method().getReturnType();
        refuseIf(
                candidate.methodCount() > 1,
                "Its class has several @KafkaHandler methods.",
                "Let one @KafkaListener method take all records of the topic",
                obstacles);
        refuseIf(
                result != void.class,
                "It returns a %s, which would be sent as a reply before the transaction is committed."
                        .formatted(result.getSimpleName()),
                "Return void",
                obstacles);
        refuseIf(
                ClaimedTransaction.hasExceptionsThatCommit(known.transactionAttribute()),
                "By its noRollbackFor a record that fails would commit those after it, which have not run.",
                "Remove noRollbackFor",
                obstacles);
        refuseIf(
                this.texts
                        .resolveIfPossible(candidate.annotation().claimAtCommit())
                        .equals("true"),
                "It claims each message with a commit.",
                "Remove claimAtCommit = \"true\"",
                obstacles);
        refuseIf(
                candidate.hasRetryTopics(this.beanFactory),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic, or its topics from the RetryTopicConfiguration",
                obstacles);
        // All records of a poll are claimed before the first is converted for its listener.
        ListenerDefinition definition = known.definition();
        refuseIf(
                definition != null
                        && !definition
                                .method()
                                .payloadVariables()
                                .containsAll(definition.messageFactory().variables()),
                "Its key or version needs more than the record and its deserialized value.",
                "Take it from #record, #headers or, where a deserializer creates it, #payload",
                obstacles);
    }

    private static void refuseIf(boolean condition, String what, String remedy, List<ListenerFault> obstacles) {
        if (condition) {
            obstacles.add(new ListenerFault(
                    StartupCheck.TRANSACTION_PER_POLL, what, remedy + ", or remove transactionPerPoll = \"true\"."));
        }
    }
}
