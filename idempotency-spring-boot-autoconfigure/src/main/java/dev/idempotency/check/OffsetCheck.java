package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.ContainerFacts;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageHeaderAccessor;

/**
 * Whether offsets are committed after the work, and in time.
 *
 * <p>None of the acknowledgment modes commits before the listener has returned: that only the Kafka client itself does.
 */
final class OffsetCheck implements ListenerCheck {

    private static final List<Class<?>> ACKNOWLEDGMENT_CARRIERS =
            List.of(Acknowledgment.class, Message.class, Map.class, MessageHeaderAccessor.class);

    @Override
    public void check(ProtectedListener listener, Report report) {
        ContainerProperties properties = listener.container().getContainerProperties();
        Object autoCommit =
                ContainerFacts.consumerSettings(listener.container()).get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
        if (Boolean.parseBoolean(String.valueOf(autoCommit))) {
            report.add(
                    Check.AUTO_COMMIT,
                    "Its consumer has enable.auto.commit=true.",
                    "Set spring.kafka.consumer.enable-auto-commit=false, and remove enable.auto.commit from"
                            + " @KafkaListener(properties = …): the container commits by itself.");
            return;
        }
        if (properties.isAsyncAcks()) {
            report.add(
                    Check.ASYNC_ACKS,
                    "Its container has asyncAcks.",
                    "Remove setAsyncAcks(true) and spring.kafka.listener.async-acks=true.");
        }
        checkDelay(listener, properties, report);
    }

    private static void checkDelay(ProtectedListener listener, ContainerProperties properties, Report report) {
        AckMode mode = properties.getAckMode();
        Duration retention = listener.consumer().retention();
        boolean manual = mode == AckMode.MANUAL || mode == AckMode.MANUAL_IMMEDIATE;
        if (properties.getTopicPartitions() != null && listener.container().getGroupId() == null) {
            report.add(
                    Check.NO_ACKNOWLEDGMENT,
                    "It has topicPartitions and no group id, so that no offset can be committed.",
                    "Add a groupId to @KafkaListener, or set spring.kafka.consumer.group-id.");
        } else if (manual && !takesAcknowledgment(listener)) {
            report.add(
                    Check.NO_ACKNOWLEDGMENT,
                    "Its acknowledgment mode is %s, but it takes no Acknowledgment.".formatted(mode),
                    "Add a parameter of type Acknowledgment and call acknowledge(), or set"
                            + " spring.kafka.listener.ack-mode=record or, from Spring Kafka 4.1,"
                            + " @KafkaListener(ackMode = \"RECORD\").");
        } else if (mode == AckMode.COUNT && properties.getAckCount() > 1) {
            report.add(
                    Check.LATE_COMMIT,
                    "Its acknowledgment mode COUNT commits after %d messages, however long they take to come."
                            .formatted(properties.getAckCount()),
                    "Set the acknowledgment mode COUNT_TIME (spring.kafka.listener.ack-mode=count_time), or leave it.");
        } else if (listener.consumer().strategy().isForgetful()
                && (mode == AckMode.TIME || mode == AckMode.COUNT_TIME)
                && Duration.ofMillis(properties.getAckTime()).compareTo(retention) >= 0) {
            report.add(
                    Check.LATE_COMMIT,
                    "Its acknowledgment mode %s commits every %s, but messages are remembered for %s."
                            .formatted(
                                    mode,
                                    Findings.format(Duration.ofMillis(properties.getAckTime())),
                                    Findings.format(retention)),
                    "Lower spring.kafka.listener.ack-time, or raise the retention.");
        }
    }

    private static boolean takesAcknowledgment(ProtectedListener listener) {
        return Arrays.stream(listener.method().getParameterTypes())
                .anyMatch(type -> ACKNOWLEDGMENT_CARRIERS.stream().anyMatch(carrier -> carrier.isAssignableFrom(type)));
    }
}
