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

/** The topics, JSON for what stands in them, and the consumer of what comes by HTTP. */
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

    /** Sends the id that an event carries as the header that {@code @IdempotentListener} looks for. */
    @Bean
    static EventExternalizationConfiguration externalization() {
        return EventExternalizationConfiguration.defaults("dev.idempotency.sample")
                .headers(ReceiptWritten.class, receipt -> Map.of(MessageIdHeader.HEADER, receipt.id()))
                .build();
    }

    /** For what the page and its buttons ask of Kafka; the listeners do without. */
    @Bean
    Admin kafkaAdminClient(KafkaAdmin kafka) {
        return Admin.create(kafka.getConfigurationProperties());
    }

    /** Whose ids are claimed by the controller: so retention, cleanup and meters know of it. */
    @Bean
    IdempotentConsumer bookings() {
        return IdempotentConsumer.named("bookings").retention(Duration.ofDays(30));
    }

    @Bean
    RecordMessageConverter jsonConverter() {
        return new StringJacksonJsonMessageConverter();
    }
}
