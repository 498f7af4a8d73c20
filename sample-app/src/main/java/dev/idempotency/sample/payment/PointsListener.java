package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

/**
 * Gives a point for every full ten paid in. A failed payment moves to a retry topic, so that it does not block others.
 *
 * <p>The main topic and the retry topics have the same consumer: a payment that was processed after a retry is a duplicate
 * in the main topic, too.
 */
@Component
class PointsListener {

    private static final Logger logger = LoggerFactory.getLogger(PointsListener.class);

    private final JdbcClient jdbc;

    PointsListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    // Other consumers of the topic may have retry topics, too, so the suffixes contain the name of this one.
    @RetryableTopic(
            attempts = "3",
            numPartitions = "3",
            backOff = @BackOff(delay = 500),
            retryTopicSuffix = "-points-retry",
            dltTopicSuffix = "-points-dlt")
    @KafkaListener(topics = Payment.TOPIC, groupId = "points")
    @IdempotentListener("points")
    void onPayment(Payment payment) {
        this.jdbc
                .sql("update points set points = points + floor(:amount / 10) where account = :account")
                .paramSource(payment)
                .update();
    }

    @DltHandler
    void onGivenUp(Payment payment, @Header(KafkaHeaders.EXCEPTION_MESSAGE) String reason) {
        logger.warn("Payment {} got no points: {}", payment.id(), reason);
    }
}
