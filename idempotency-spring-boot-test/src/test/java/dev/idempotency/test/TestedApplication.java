package dev.idempotency.test;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.test.context.DynamicPropertyRegistrar;
import tools.jackson.databind.json.JsonMapper;

/** Listeners of every kind; each writes a row per call and message. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({TestedApplication.Effects.class, TestedApplication.Listeners.class})
class TestedApplication {

    /** An order, whose id is in its payload. */
    record Order(String id) {}

    static final String TOPIC = "${tested.topic:tested}";

    @Bean
    TestDatabase database() {
        return TestPostgres.createDatabase();
    }

    @Bean
    DynamicPropertyRegistrar databaseUrl(TestDatabase database) {
        return registry -> registry.add("spring.datasource.url", database::jdbcUrl);
    }

    @Bean
    JsonMapper jsonMapper() {
        return JsonMapper.builder().build();
    }

    @Bean
    RecordMessageConverter jsonConverter() {
        return new StringJacksonJsonMessageConverter();
    }

    /** Uses a filter, an interceptor and manual acknowledgment. */
    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> manualFactory(
            ConsumerFactory<String, String> consumerFactory, Effects effects) {
        ConcurrentKafkaListenerContainerFactory<String, String> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumerFactory);
        factory.getContainerProperties().setAckMode(AckMode.MANUAL_IMMEDIATE);
        factory.setRecordFilterStrategy(record -> record.value().startsWith("unwanted"));
        factory.setRecordInterceptor((record, consumer) -> {
            effects.add("intercepted", record.value());
            return record;
        });
        return factory;
    }

    /** The effects of listeners. */
    record Effects(JdbcClient jdbc) {

        Effects {
            jdbc.sql("create table effect (consumer text, message text)").update();
        }

        void add(String consumer, Object message) {
            this.jdbc
                    .sql("insert into effect values (?, ?)")
                    .params(consumer, message)
                    .update();
        }

        List<String> of(String consumer) {
            return this.jdbc
                    .sql("select message from effect where consumer = ? order by message")
                    .param(consumer)
                    .query(String.class)
                    .list();
        }
    }

    static class Listeners {

        private final Effects effects;
        private final Map<String, Integer> attempts = new ConcurrentHashMap<>();
        private final List<String> calls = new CopyOnWriteArrayList<>();

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = TOPIC, groupId = "ledger")
        @IdempotentListener("ledger")
        void ledger(ConsumerRecord<String, String> record) {
            this.effects.add("ledger", (record.value() != null) ? record.value() : "tombstone");
        }

        @KafkaListener(topics = TOPIC + "-orders", groupId = "orders")
        @IdempotentListener(consumer = "orders", key = "#payload.id")
        void orders(Order order) {
            this.effects.add("orders", order.id());
        }

        @KafkaListener(topics = TOPIC, groupId = "batch", batch = "true")
        @IdempotentListener("batch")
        void batch(List<ConsumerRecord<String, String>> records) {
            this.effects.add(
                    "batches",
                    records.stream().map(ConsumerRecord::value).toList().toString());
            records.forEach(record -> this.effects.add("batch", record.value()));
        }

        @KafkaListener(topics = TOPIC, groupId = "poll")
        @IdempotentListener(consumer = "poll", transactionPerPoll = "true")
        void poll(ConsumerRecord<String, String> record) {
            this.effects.add("poll", record.value());
        }

        @KafkaListener(topics = TOPIC + "-odd", groupId = "failing")
        @IdempotentListener("failing")
        void failing(ConsumerRecord<String, String> record) {
            this.effects.add("failing", record.value());
            if (this.attempts.merge(record.value(), 1, Integer::sum) <= 2) {
                throw new IllegalStateException("not yet");
            }
            failOnPoison(record.value());
        }

        @KafkaListener(
                topics = TOPIC + "-odd",
                groupId = "numbers",
                properties = "value.deserializer=org.apache.kafka.common.serialization.IntegerDeserializer")
        @IdempotentListener("numbers")
        void numbers(ConsumerRecord<String, Integer> record) {
            this.effects.add("numbers", record.value().toString());
        }

        @KafkaListener(topics = TOPIC + "-odd", groupId = "manual", containerFactory = "manualFactory")
        @IdempotentListener("manual")
        void manual(ConsumerRecord<String, String> record, Acknowledgment acknowledgment) {
            this.effects.add("manual", record.value());
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = TOPIC + "-odd", groupId = "random")
        @IdempotentListener(consumer = "random", key = "T(java.lang.System).identityHashCode(#record)")
        void random(ConsumerRecord<String, String> record) {
            this.effects.add("random", record.value());
        }

        @KafkaListener(topics = TOPIC + "-odd", groupId = "offsets")
        @IdempotentListener(consumer = "offsets", strategy = DeduplicationStrategy.OFFSET)
        void offsets(ConsumerRecord<String, String> record) {
            this.effects.add("offsets", record.value());
        }

        @KafkaListener(topics = TOPIC, groupId = "charges")
        @IdempotentListener("charges")
        void charges(ConsumerRecord<String, String> record) {
            charge("charges", 0, record.value());
        }

        @KafkaListener(topics = TOPIC, groupId = "charged-batch", batch = "true")
        @IdempotentListener("charged-batch")
        void chargedBatch(List<ConsumerRecord<String, String>> records) {
            for (int i = 0; i < records.size(); i++) {
                charge("charged-batch", i, records.get(i).value());
            }
        }

        List<String> calls() {
            return this.calls;
        }

        private void charge(String consumer, int index, String value) {
            IdempotencyContext context = IdempotencyContext.current();
            try {
                context.step(index, "charge", String.class, key -> {
                    this.calls.add(consumer + " charges " + value);
                    return key;
                });
            } catch (DataAccessException ex) {
                // The simulated crash counts even if the listener continues.
            }
            context.stepAtMostOnce(index, "mail", () -> this.calls.add(consumer + " mails " + value));
            this.effects.add(consumer, value);
        }

        @KafkaListener(id = "unprotected", topics = TOPIC)
        void unprotected(ConsumerRecord<String, String> record) {
            this.effects.add("unprotected", record.value());
        }

        private static void failOnPoison(String value) {
            if (value.startsWith("poison")) {
                throw new IllegalArgumentException(value);
            }
        }
    }
}
