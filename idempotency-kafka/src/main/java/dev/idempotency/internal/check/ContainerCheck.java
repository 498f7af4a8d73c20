package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.failure.ErrorHandlerInstaller;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.StringUtils;

/**
 * Checks that the container opens no transactions, commits offsets after the work, and keeps what fails, and that messages are
 * remembered for long enough. No acknowledgment mode commits before the listener has returned; only the Kafka client does.
 */
final class ContainerCheck {

    private static final Duration SHORTEST_RETENTION = Duration.ofHours(1);

    private static final List<Class<?>> ACKNOWLEDGMENT_CARRIERS =
            List.of(Acknowledgment.class, Message.class, Map.class, MessageHeaderAccessor.class);

    private ContainerCheck() {}

    static void check(ProtectedListener listener, Report report) {
        ContainerProperties properties = listener.container().getContainerProperties();
        if (opensTransactions(properties)) {
            report.add(
                    StartupCheck.CONTAINER_TRANSACTION,
                    "Its container has a transaction manager, or a TransactionInterceptor in its advice chain.",
                    "Remove setTransactionManager(…) and setAdviceChain(…) from the container properties:"
                            + " @IdempotentListener opens the transaction.");
        }
        checkAcknowledgments(listener, properties, report);
        checkErrorHandling(listener, report);
        if (listener.consumer().strategy().isForgetful()
                && listener.consumer().retention().compareTo(SHORTEST_RETENTION) < 0) {
            report.add(
                    StartupCheck.RETENTION_TOO_SHORT,
                    ("Its messages are remembered for %s, but %s is the least: rebalances and producers that send again"
                                    + " bring duplicates later than that.")
                            .formatted(
                                    Findings.format(listener.consumer().retention()),
                                    Findings.format(SHORTEST_RETENTION)),
                    "Raise idempotency.retention, or @IdempotentListener(retention = …).");
        }
    }

    @SuppressWarnings("removal") // Still in force where it is set.
    private static boolean opensTransactions(ContainerProperties properties) {
        return properties.getTransactionManager() != null
                || Arrays.stream(properties.getAdviceChain()).anyMatch(TransactionInterceptor.class::isInstance);
    }

    private static void checkAcknowledgments(
            ProtectedListener listener, ContainerProperties properties, Report report) {
        AckMode mode = properties.getAckMode();
        Object autoCommit =
                ListenerContainers.consumerSettings(listener.container()).get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
        if (Boolean.parseBoolean(String.valueOf(autoCommit))) {
            report.add(
                    StartupCheck.AUTO_COMMIT,
                    "Its consumer has enable.auto.commit=true.",
                    "Set spring.kafka.consumer.enable-auto-commit=false, and remove enable.auto.commit from"
                            + " @KafkaListener(properties = …): the container commits by itself.");
        }
        if (properties.isAsyncAcks()) {
            report.add(
                    StartupCheck.ASYNC_ACKS,
                    "Its container has asyncAcks.",
                    "Remove setAsyncAcks(true) and spring.kafka.listener.async-acks=true.");
        }
        if (properties.getTopicPartitions() != null && listener.container().getGroupId() == null) {
            report.add(
                    StartupCheck.NO_ACKNOWLEDGMENT,
                    "It has topicPartitions and no group id, so that no offset can be committed.",
                    "Add a groupId to @KafkaListener, or set spring.kafka.consumer.group-id.");
        } else if ((mode == AckMode.MANUAL || mode == AckMode.MANUAL_IMMEDIATE) && !takesAcknowledgment(listener)) {
            report.add(
                    StartupCheck.NO_ACKNOWLEDGMENT,
                    "Its acknowledgment mode is %s, but it takes no Acknowledgment.".formatted(mode),
                    "Add a parameter of type Acknowledgment and call acknowledge(), or set"
                            + " spring.kafka.listener.ack-mode=record or, from Spring Kafka 4.1,"
                            + " @KafkaListener(ackMode = \"RECORD\").");
        }
    }

    private static boolean takesAcknowledgment(ProtectedListener listener) {
        return Arrays.stream(listener.method().getParameterTypes())
                .anyMatch(type -> ACKNOWLEDGMENT_CARRIERS.stream().anyMatch(carrier -> carrier.isAssignableFrom(type)));
    }

    private static void checkErrorHandling(ProtectedListener listener, Report report) {
        CommonErrorHandler handler = ErrorHandlerInstaller.handlerOf(listener.container());
        if (ListenerContainers.deliversBatches(listener.container()) && ListenerContainers.ignoresBatches(handler)) {
            report.add(
                    StartupCheck.BATCH_ERROR_HANDLER,
                    "Its container delivers batches, and its error handler does not implement handleBatch.",
                    "Use a DefaultErrorHandler, or implement handleBatch.");
        }
        if (handler instanceof CommonLoggingErrorHandler
                || (handler instanceof FailedRecordProcessor processor
                        && SpringKafkaInternals.hasNoRecoverer(processor))) {
            report.add(
                    StartupCheck.DROPPED_FAILURES,
                    "Its container's error handler has no recoverer.",
                    "Write new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafkaTemplate), backOff), which"
                            + " sends it to a dead-letter topic. If its back-off never ends, relax this check.");
        }
        if (listener.kafkaListeners().anyMatch(annotation -> StringUtils.hasText(annotation.errorHandler()))) {
            report.add(
                    StartupCheck.LISTENER_ERROR_HANDLER,
                    "It has a KafkaListenerErrorHandler.",
                    "Remove @KafkaListener(errorHandler = …) and let the container's DefaultErrorHandler retry and"
                            + " recover; if it always throws, relax this check.");
        }
    }
}
