package dev.idempotency.definition;

import dev.idempotency.Check;
import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * What keeps a record listener from having one transaction per poll: its container becomes a batch container.
 *
 * <p>It looks at the container as the application has made it. Later there are interceptors of ours, and a definition that
 * would not keep what it promises.
 */
final class TransactionPerPollValidator {

    private static final List<AckMode> OF_SINGLE_RECORDS =
            List.of(AckMode.RECORD, AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE);

    private final List<ListenerFault> faults = new ArrayList<>();

    private TransactionPerPollValidator() {}

    static List<ListenerFault> validate(ListenerCandidate listener, TransactionAttribute attribute) {
        TransactionPerPollValidator validator = new TransactionPerPollValidator();
        AbstractMessageListenerContainer<?, ?> container = listener.container();
        validator.refuseMethod(listener, attribute);
        validator.refuseContainer(container, container.getContainerProperties());
        validator.refuseIf(
                container.getMainListenerId() != null
                        || hasRetryTopics(listener.method())
                        || hasRetryTopics(listener.targetClass()),
                "It has retry topics, which Spring Kafka does not have for batches.",
                "Remove @RetryableTopic");
        return validator.faults;
    }

    private void refuseMethod(ListenerCandidate listener, TransactionAttribute attribute) {
        Class<?> result = listener.method().getReturnType();
        refuseIf(
                listener.isHandler(),
                "It is one of several @KafkaHandler methods, and which of them a record is for is not known when records"
                        + " are claimed.",
                "Put @KafkaListener on a method");
        refuseIf(
                result != void.class,
                "It returns a %s, which would be sent as a reply before the transaction is committed."
                        .formatted(result.getSimpleName()),
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
                "Set spring.kafka.listener.ack-mode=batch or, from Spring Kafka 4.1, @KafkaListener(ackMode = \"BATCH\")");
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
                    Check.TRANSACTION_PER_POLL, what, remedy + ", or remove transactionPerPoll = true."));
        }
    }
}
