package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.store.ClaimedTransaction;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
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
     * @param listeners its methods: one, or all the handlers of a class
     * @param resolved what is known of them, in the same order
     */
    Decision decide(List<ListenerCandidate> listeners, List<ListenerResolver.Resolved> resolved) {
        AbstractMessageListenerContainer<?, ?> container = listeners.get(0).container();
        Set<String> asked = listeners.stream()
                .map(listener ->
                        this.texts.resolveIfPossible(listener.annotation().transactionPerPoll()))
                .collect(Collectors.toSet());
        boolean demanded = asked.contains("true");
        boolean wanted = demanded || (this.byDefault && !asked.contains("false"));
        if (!wanted || ContainerFacts.deliversBatches(container)) {
            return new Decision(false, false, List.of());
        }
        List<ListenerDefinition> definitions = resolved.stream()
                .map(ListenerResolver.Resolved::definition)
                .filter(Objects::nonNull)
                .toList();
        List<ProtectedListener> known =
                resolved.stream().map(ListenerResolver.Resolved::listener).toList();
        Set<ListenerFault> obstacles = new LinkedHashSet<>();
        refuseContainer(container, demanded, obstacles);
        for (int i = 0; i < listeners.size(); i++) {
            refuseMethod(listeners.get(i), known.get(i), obstacles);
        }
        refuseHandlers(listeners, known, obstacles);
        refuseIf(
                definitions.stream().anyMatch(definition -> !isKeyOfRecord(definition, definitions.size())),
                "Its key or version needs more than the record and its deserialized value.",
                "Take it from #record, #headers or, where a deserializer creates it, #payload",
                obstacles);
        boolean possible = obstacles.isEmpty() && definitions.size() == listeners.size();
        return new Decision(possible, demanded, List.copyOf(obstacles));
    }

    private static void refuseContainer(
            AbstractMessageListenerContainer<?, ?> container, boolean demanded, Set<ListenerFault> obstacles) {
        ContainerProperties properties = container.getContainerProperties();
        refuseIf(
                BY_THE_LISTENER.contains(properties.getAckMode()),
                "By its acknowledgment mode %s the listener decides on each record by itself, and those of a poll are"
                                .formatted(properties.getAckMode())
                        + " committed, or not, together.",
                "Set spring.kafka.listener.ack-mode=batch or, from Spring Kafka 4.1, @KafkaListener(ackMode = \"BATCH\")",
                obstacles);
        refuseIf(
                container.getRecordInterceptor() != null,
                "Its container has a RecordInterceptor, which batches are not given to.",
                "Remove the RecordInterceptor from the container factory",
                obstacles);
        refuseIf(
                properties.isDeliveryAttemptHeader(),
                "Its container counts delivery attempts, which it does not for the records of a batch.",
                "Remove setDeliveryAttemptHeader(true) from the container properties",
                obstacles);
        refuseIf(
                properties.getAdviceChain().length > 0,
                "Its container has an advice chain, which would be called with the records of a poll at once.",
                "Remove setAdviceChain(…) from the container properties",
                obstacles);
        // A demand is answered by the check of error handlers, which can be relaxed.
        refuseIf(
                !demanded && ContainerFacts.ignoresBatches(container.getCommonErrorHandler()),
                "Its container's error handler does not implement handleBatch.",
                "Use a DefaultErrorHandler",
                obstacles);
    }

    private void refuseMethod(ListenerCandidate listener, ProtectedListener known, Set<ListenerFault> obstacles) {
        Class<?> result = listener.method().getReturnType();
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
                        .resolveIfPossible(listener.annotation().claimAtCommit())
                        .equals("true"),
                "It claims each message with the commit of its own transaction.",
                "Remove claimAtCommit = \"true\"",
                obstacles);
        refuseIf(
                listener.hasRetryTopics(this.beanFactory),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic, or its topics from the RetryTopicConfiguration",
                obstacles);
    }

    /** The handler of a record is chosen when it is handed over, so all handlers of a class share the transaction. */
    private static void refuseHandlers(
            List<ListenerCandidate> listeners, List<ProtectedListener> known, Set<ListenerFault> obstacles) {
        ListenerCandidate first = listeners.get(0);
        ProtectedListener one = known.get(0);
        refuseIf(
                listeners.size() < first.methodCount(),
                "Not all @KafkaHandler methods of its class are protected, and those that are not would run in the"
                        + " transaction of those that are.",
                "Put @IdempotentListener on the class",
                obstacles);
        refuseIf(
                listeners.stream().anyMatch(other -> !other.annotation().equals(first.annotation())),
                "The @KafkaHandler methods of its class differ in @IdempotentListener, and all records of a poll are"
                        + " claimed together.",
                "Put one @IdempotentListener on the class",
                obstacles);
        refuseIf(
                known.stream()
                        .anyMatch(other -> other.transactionManager() != one.transactionManager()
                                || !other.transactionAttribute().equals(one.transactionAttribute())),
                "The @KafkaHandler methods of its class have different transaction managers or attributes, and a poll"
                        + " has records for all of them.",
                "Put one @Transactional on the class",
                obstacles);
    }

    /** All records of a poll are claimed before the first is converted for its listener. */
    private static boolean isKeyOfRecord(ListenerDefinition definition, int methods) {
        Set<String> variables = definition.candidates().variables();
        return variables.isEmpty()
                || (methods == 1 && definition.method().payloadVariables().containsAll(variables));
    }

    private static void refuseIf(boolean condition, String what, String remedy, Set<ListenerFault> obstacles) {
        if (condition) {
            obstacles.add(new ListenerFault(
                    Check.TRANSACTION_PER_POLL, what, remedy + ", or remove transactionPerPoll = \"true\"."));
        }
    }
}
