package dev.idempotency.listener;

import dev.idempotency.listener.ListenerFault.Kind;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.transaction.interceptor.TransactionAttribute;

/** Whether a record listener can have one transaction a poll: its container becomes a batch container. */
final class PollTransactions {

    private static final List<AckMode> OF_SINGLE_RECORDS =
            List.of(AckMode.RECORD, AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE);

    private PollTransactions() {}

    /** A batch is one transaction anyway. */
    static boolean areOf(AbstractMessageListenerContainer<?, ?> container) {
        return !(ContainerPreparation.listenerOf(container) instanceof BatchMessageListener);
    }

    static List<ListenerFault> faultsOf(
            Method method,
            Class<?> targetClass,
            AnnotatedElement element,
            TransactionAttribute attribute,
            AbstractMessageListenerContainer<?, ?> container) {
        List<ListenerFault> faults = new ArrayList<>();
        if (!(element instanceof Method)) {
            faults.add(fault(
                    "It is one of several @KafkaHandler methods, and which of them a record is for is not known when"
                            + " records are claimed.",
                    "Put @KafkaListener on a method, or remove transactionPerPoll = true."));
        }
        ContainerProperties properties = container.getContainerProperties();
        AckMode ackMode = properties.getAckMode();
        if (OF_SINGLE_RECORDS.contains(ackMode)) {
            faults.add(fault(
                    "By its acknowledgment mode %s a record is acknowledged before the others are committed with it."
                            .formatted(ackMode),
                    "Set @KafkaListener(ackMode = \"BATCH\"), or remove transactionPerPoll = true."));
        }
        if (properties.getKafkaAwareTransactionManager() != null) {
            faults.add(fault(
                    "Its container takes part in Kafka transactions: if one record fails, what was sent for those"
                            + " before it is undone, and they are not.",
                    "Remove the Kafka transaction manager from the container factory, or transactionPerPoll = true."));
        }
        if (properties.isDeliveryAttemptHeader()) {
            faults.add(fault(
                    "Its container counts delivery attempts, which it does not for the records of a batch.",
                    "Remove setDeliveryAttemptHeader(true) from the container properties, or transactionPerPoll ="
                            + " true."));
        }
        if (properties.getAdviceChain().length > 0) {
            faults.add(fault(
                    "Its container has an advice chain, which would be called with the records of a poll at once.",
                    "Remove setAdviceChain(…) from the container properties, or transactionPerPoll = true."));
        }
        if (container.getRecordInterceptor() != null) {
            faults.add(fault(
                    "Its container has a RecordInterceptor, which is not called for the records of a batch.",
                    "Use a BatchInterceptor, or a container factory without it; or remove transactionPerPoll = true."));
        }
        if (method.getReturnType() != void.class) {
            faults.add(fault(
                    "It returns a %s, which would be sent as a reply before the transaction is committed."
                            .formatted(method.getReturnType().getSimpleName()),
                    "Return void, or remove transactionPerPoll = true."));
        }
        if (container.getMainListenerId() != null
                || Stream.of(method, targetClass)
                        .anyMatch(annotated -> AnnotatedElementUtils.hasAnnotation(annotated, RetryableTopic.class))) {
            faults.add(fault(
                    "It has retry topics, which Spring Kafka does not have for batches.",
                    "Remove @RetryableTopic, or transactionPerPoll = true."));
        }
        if (ListenerTransaction.hasExceptionsThatCommit(attribute)) {
            faults.add(fault(
                    "By its noRollbackFor a record that fails would commit those after it, which have not run.",
                    "Remove noRollbackFor, or transactionPerPoll = true."));
        }
        return faults;
    }

    private static ListenerFault fault(String what, String remedy) {
        return new ListenerFault(Kind.TRANSACTION_PER_POLL, what, remedy);
    }
}
