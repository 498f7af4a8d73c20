package dev.idempotency.internal.definition;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.store.ClaimedTransaction;
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
record PollSharingResolver(boolean byDefault, ConfigurableListableBeanFactory beanFactory, AnnotationTexts texts) {

    /** Whether records share a transaction, whether a listener demands it, and why they cannot. */
    record Decision(boolean isGranted, boolean demanded, List<ListenerFault> obstacles) {

        List<ListenerFault> faults() {
            return this.demanded ? this.obstacles : List.of();
        }
    }

    private static final List<AckMode> BY_THE_LISTENER = List.of(AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE);

    /** Decides for the methods behind one container, of which the listeners are what was resolved. */
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
        Obstacles obstacles = new Obstacles(new ArrayList<>());
        addObstacles(first.container(), demanded, obstacles);
        addObstacles(first, listeners.get(0), obstacles);
        boolean granted = obstacles.found().isEmpty() && listeners.get(0).definition() != null;
        return new Decision(granted, demanded, obstacles.found());
    }

    private record Obstacles(List<ListenerFault> found) {

        void add(boolean condition, String what, String remedy) {
            if (condition) {
                this.found.add(new ListenerFault(
                        StartupCheck.TRANSACTION_PER_POLL,
                        what,
                        remedy + ", or remove transactionPerPoll = \"true\"."));
            }
        }
    }

    private static void addObstacles(
            AbstractMessageListenerContainer<?, ?> container, boolean demanded, Obstacles obstacles) {
        ContainerProperties properties = container.getContainerProperties();
        obstacles.add(
                BY_THE_LISTENER.contains(properties.getAckMode()),
                "By its acknowledgment mode %s the listener decides on each record, and the records of a poll are"
                                .formatted(properties.getAckMode())
                        + " committed, or not, together.",
                "Set spring.kafka.listener.ack-mode=batch or, from Spring Kafka 4.1, @KafkaListener(ackMode = \"BATCH\")");
        obstacles.add(
                container.getRecordInterceptor() != null
                        || properties.isDeliveryAttemptHeader()
                        || properties.getAdviceChain().length > 0,
                "Its container has a RecordInterceptor, a delivery attempt header or an advice chain, which are not for the"
                        + " records of a batch.",
                "Remove these from the container factory");
        obstacles.add(
                properties.isObservationEnabled()
                        || !properties.getObservationRegistry().isNoop(),
                "Its container observes each record, which it does not for the records of a batch.",
                "Switch off spring.kafka.listener.observation-enabled, or setObservationEnabled in its container factory");
        // A demand is answered by the check of error handlers, which can be relaxed.
        obstacles.add(
                !demanded && ListenerContainers.ignoresBatches(container.getCommonErrorHandler()),
                "Its container's error handler does not implement handleBatch.",
                "Use a DefaultErrorHandler");
    }

    private void addObstacles(ListenerCandidate candidate, ProtectedListener known, Obstacles obstacles) {
        Class<?> result = candidate.method().getReturnType();
        ListenerDefinition definition = known.definition();
        obstacles.add(
                known.methodCount() > 1,
                "Its class has several @KafkaHandler methods.",
                "Let one @KafkaListener method take all records of the topic");
        obstacles.add(
                result != void.class,
                "It returns a %s, which would be sent as a reply before the transaction is committed."
                        .formatted(result.getSimpleName()),
                "Return void");
        obstacles.add(
                ClaimedTransaction.hasExceptionsThatCommit(known.transactionAttribute()),
                "By its noRollbackFor a record that fails would commit those after it, which have not run.",
                "Remove noRollbackFor");
        obstacles.add(
                this.texts
                        .resolveIfPossible(candidate.annotation().claimAtCommit())
                        .equals("true"),
                "It claims each message with a commit.",
                "Remove claimAtCommit = \"true\"");
        obstacles.add(
                candidate.hasRetryTopics(this.beanFactory),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic, or its topics from the RetryTopicConfiguration");
        // All records of a poll are claimed before the first is converted for its listener.
        obstacles.add(
                definition != null
                        && !definition
                                .method()
                                .payloadVariables()
                                .containsAll(definition.messageFactory().variables()),
                "Its key, version or lock needs more than the record and its deserialized value.",
                "Take it from #record, #headers or, where a deserializer creates it, #payload");
    }
}
