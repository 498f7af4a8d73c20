package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.store.ClaimedTransaction;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;

/** What keeps record listeners from having one transaction per poll: their container becomes a batch container. */
final class TransactionPerPollValidator {

    private static final List<AckMode> BY_THE_LISTENER = List.of(AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE);

    private final boolean demanded;
    private final Set<ListenerFault> obstacles = new LinkedHashSet<>();

    /** {@code demanded} says whether a listener asks for it itself; or else it is the application's default. */
    TransactionPerPollValidator(boolean demanded) {
        this.demanded = demanded;
    }

    List<ListenerFault> obstacles() {
        return List.copyOf(this.obstacles);
    }

    void refuseMethod(ListenerCandidate listener, ProtectedListener known, RetryTopics retryTopics) {
        Class<?> result = listener.method().getReturnType();
        refuseIf(
                result != void.class,
                "It returns a %s, which would be sent as a reply before the transaction is committed."
                        .formatted(result.getSimpleName()),
                "Return void");
        refuseIf(
                ClaimedTransaction.hasExceptionsThatCommit(known.transactionAttribute()),
                "By its noRollbackFor a record that fails would commit those after it, which have not run.",
                "Remove noRollbackFor");
        refuseIf(
                retryTopics.areOf(listener),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic, or its topics from the RetryTopicConfiguration");
    }

    /** Which of a class's handlers a record is for is found out when it is handed over: they share its transaction. */
    void refuseHandlers(List<ListenerCandidate> listeners, List<ProtectedListener> known) {
        ListenerCandidate first = listeners.get(0);
        ProtectedListener one = known.get(0);
        refuseIf(
                listeners.size() < first.methodCount(),
                "Not all @KafkaHandler methods of its class are protected, and those that are not would run in the"
                        + " transaction of those that are.",
                "Put @IdempotentListener on the class");
        refuseIf(
                listeners.stream().anyMatch(other -> !other.annotation().equals(first.annotation())),
                "The @KafkaHandler methods of its class differ in @IdempotentListener, and all records of a poll are"
                        + " claimed together.",
                "Put one @IdempotentListener on the class");
        refuseIf(
                known.stream()
                        .anyMatch(other -> other.transactionManager() != one.transactionManager()
                                || !other.transactionAttribute().equals(one.transactionAttribute())),
                "The @KafkaHandler methods of its class have different transaction managers or attributes, and a poll"
                        + " has records for all of them.",
                "Put one @Transactional on the class");
    }

    /** All records of a poll are claimed before the first is converted for its listener. */
    void refuseKeys(List<ListenerDefinition> definitions) {
        refuseIf(
                definitions.stream().anyMatch(definition -> !areKnown(definition, definitions.size())),
                "Its key or version needs more than the record and its deserialized value.",
                "Take it from #record, #headers or, where a deserializer creates it, #payload");
    }

    private static boolean areKnown(ListenerDefinition definition, int methods) {
        Set<String> variables = definition.candidates().variables();
        return variables.isEmpty()
                || (methods == 1 && definition.method().payloadVariables().containsAll(variables));
    }

    void refuseContainer(AbstractMessageListenerContainer<?, ?> container) {
        ContainerProperties properties = container.getContainerProperties();
        refuseIf(
                BY_THE_LISTENER.contains(properties.getAckMode()),
                "By its acknowledgment mode %s the listener decides on each record by itself, and those of a poll are"
                                .formatted(properties.getAckMode())
                        + " committed, or not, together.",
                "Set spring.kafka.listener.ack-mode=batch or, from Spring Kafka 4.1, @KafkaListener(ackMode = \"BATCH\")");
        refuseIf(
                container.getRecordInterceptor() != null,
                "Its container has a RecordInterceptor, which batches are not given to.",
                "Remove the RecordInterceptor from the container factory");
        refuseIf(
                properties.isDeliveryAttemptHeader(),
                "Its container counts delivery attempts, which it does not for the records of a batch.",
                "Remove setDeliveryAttemptHeader(true) from the container properties");
        refuseIf(
                properties.getAdviceChain().length > 0,
                "Its container has an advice chain, which would be called with the records of a poll at once.",
                "Remove setAdviceChain(…) from the container properties");
        // A demand is answered by the check of error handlers, which can be relaxed.
        refuseIf(
                !this.demanded && ContainerFacts.ignoresBatches(container.getCommonErrorHandler()),
                "Its container's error handler does not implement handleBatch.",
                "Use a DefaultErrorHandler");
    }

    private void refuseIf(boolean condition, String what, String remedy) {
        if (condition) {
            this.obstacles.add(new ListenerFault(
                    Check.TRANSACTION_PER_POLL, what, remedy + ", or remove transactionPerPoll = \"true\"."));
        }
    }
}
