package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.key.MessageIdHeader;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.modulith.events.EventExternalizationConfiguration;

/** The topics, the conversion of JSON, and the consumer for payments by HTTP. */
@Configuration(proxyBeanMethods = false)
class PaymentConfiguration {

    @Bean
    NewTopic topicOfPayments() {
        return TopicBuilder.name(Payment.TOPIC).partitions(3).build();
    }

    @Bean
    NewTopic topicOfReceipts() {
        return TopicBuilder.name(ReceiptWritten.TOPIC).partitions(3).build();
    }

    /** Sends the id of an event as the header that {@code @IdempotentListener} reads. */
    @Bean
    static EventExternalizationConfiguration externalization() {
        return EventExternalizationConfiguration.defaults("dev.idempotency.sample")
                .headers(ReceiptWritten.class, receipt -> Map.of(MessageIdHeader.HEADER, receipt.id()))
                .build();
    }

    /** Used by the page and its buttons; the listeners do not need it. */
    @Bean
    Admin kafkaAdminClient(KafkaAdmin kafka) {
        return Admin.create(kafka.getConfigurationProperties());
    }

    /** Declares the consumer whose ids are claimed by the controller, for retention, cleanup and meters. */
    @Bean
    IdempotentConsumer bookings() {
        return IdempotentConsumer.named("bookings").retention(Duration.ofDays(30));
    }

    @Bean
    RecordMessageConverter jsonConverter() {
        return new StringJacksonJsonMessageConverter();
    }
}
