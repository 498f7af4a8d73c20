package dev.idempotency.definition;

import dev.idempotency.definition.ListenerFault.Kind;
import dev.idempotency.listener.ListenerContainerConfigurer;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
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

    private final List<ListenerFault> faults = new ArrayList<>();

    private PollTransactions() {}

    /** A batch is one transaction anyway. */
    static boolean areOf(AbstractMessageListenerContainer<?, ?> container) {
        return !(ListenerContainerConfigurer.listenerOf(container) instanceof BatchMessageListener);
    }

    static List<ListenerFault> faultsOf(
            Method method,
            Class<?> targetClass,
            AnnotatedElement element,
            TransactionAttribute attribute,
            AbstractMessageListenerContainer<?, ?> container) {
        PollTransactions transactions = new PollTransactions();
        transactions.refuseMethod(method, element, attribute);
        transactions.refuseContainer(container, container.getContainerProperties());
        transactions.refuseIf(
                container.getMainListenerId() != null || hasRetryTopics(method) || hasRetryTopics(targetClass),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic");
        return transactions.faults;
    }

    private void refuseMethod(Method method, AnnotatedElement element, TransactionAttribute attribute) {
        refuseIf(
                !(element instanceof Method),
                "It is one of several @KafkaHandler methods, and which of them a record is for is not known when records"
                        + " are claimed.",
                "Put @KafkaListener on a method");
        refuseIf(
                method.getReturnType() != void.class,
                "It returns a %s, which would be sent as a reply before the transaction is committed."
                        .formatted(method.getReturnType().getSimpleName()),
                "Return void");
        refuseIf(
                ListenerTransaction.hasExceptionsThatCommit(attribute),
                "By its noRollbackFor a record that fails would commit those after it, which have not run.",
                "Remove noRollbackFor");
    }

    private void refuseContainer(AbstractMessageListenerContainer<?, ?> container, ContainerProperties properties) {
        refuseIf(
                OF_SINGLE_RECORDS.contains(properties.getAckMode()),
                "By its acknowledgment mode %s a record is acknowledged before the others are committed with it."
                        .formatted(properties.getAckMode()),
                "Set @KafkaListener(ackMode = \"BATCH\")");
        refuseIf(
                hasTransactionsOfItsOwn(properties),
                "Its container takes part in Kafka transactions, or has others of its own: if one record fails, what was sent for those before it"
                        + " is undone, and they are not.",
                "Remove the transaction manager from the container factory");
        refuseIf(
                properties.isDeliveryAttemptHeader(),
                "Its container counts delivery attempts, which it does not for the records of a batch.",
                "Remove setDeliveryAttemptHeader(true) from the container properties");
        refuseIf(
                properties.getAdviceChain().length > 0,
                "Its container has an advice chain, which would be called with the records of a poll at once.",
                "Remove setAdviceChain(…) from the container properties");
        refuseIf(
                container.getRecordInterceptor() != null,
                "Its container has a RecordInterceptor, which is not called for the records of a batch.",
                "Use a BatchInterceptor, or a container factory without it");
    }

    @SuppressWarnings("removal") // Still in force where it is set.
    private static boolean hasTransactionsOfItsOwn(ContainerProperties properties) {
        return properties.getKafkaAwareTransactionManager() != null || properties.getTransactionManager() != null;
    }

    private static boolean hasRetryTopics(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class);
    }

    private void refuseIf(boolean condition, String what, String remedy) {
        if (condition) {
            this.faults.add(new ListenerFault(
                    Kind.TRANSACTION_PER_POLL, what, remedy + ", or remove transactionPerPoll = true."));
        }
    }
}
