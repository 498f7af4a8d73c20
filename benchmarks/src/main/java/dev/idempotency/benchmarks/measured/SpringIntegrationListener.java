package dev.idempotency.benchmarks.measured;

import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.annotation.IdempotentReceiver;
import org.springframework.integration.annotation.ServiceActivator;
import org.springframework.integration.channel.DirectChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.context.IntegrationContextUtils;
import org.springframework.integration.handler.advice.IdempotentReceiverInterceptor;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;
import org.springframework.integration.selector.MetadataStoreSelector;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.transaction.annotation.Transactional;

/**
 * Spring Integration's idempotent receiver, set up as in the reference manual's "Idempotent Receiver Enterprise Integration
 * Pattern" and "JDBC Metadata Store": {@code @IdempotentReceiver} on a service activator behind a direct
 * channel, so that the store is part of the listener's transaction.
 */
@Import(SpringIntegrationListener.Entrance.class)
@Configuration(proxyBeanMethods = false)
@EnableIntegration
class SpringIntegrationListener {

    static final String ID = "spring-integration";

    private static final String INPUT = "benchmarkInput";
    private static final String INTERCEPTOR = "idempotentReceiverInterceptor";
    private static final String MESSAGE_ID = "messageId";

    @Bean
    JdbcMetadataStore metadataStore(DataSource dataSource) {
        JdbcTemplate jdbc = new JdbcTemplate(dataSource);
        if (jdbc.queryForObject("select to_regclass('int_metadata_store')::text", String.class) == null) {
            DatabasePopulatorUtils.execute(
                    new ResourceDatabasePopulator(
                            new ClassPathResource("org/springframework/integration/jdbc/schema-postgresql.sql")),
                    dataSource);
        }
        return new JdbcMetadataStore(dataSource);
    }

    @Bean(INTERCEPTOR)
    IdempotentReceiverInterceptor idempotentReceiverInterceptor(JdbcMetadataStore store) {
        IdempotentReceiverInterceptor interceptor =
                new IdempotentReceiverInterceptor(new MetadataStoreSelector(message -> messageId(message), store));
        interceptor.setDiscardChannelName(IntegrationContextUtils.NULL_CHANNEL_BEAN_NAME);
        return interceptor;
    }

    private static String messageId(Message<?> message) {
        return String.valueOf(message.getHeaders().get(MESSAGE_ID));
    }

    @Bean(INPUT)
    DirectChannel benchmarkInput() {
        return new DirectChannel();
    }

    @Bean
    @ServiceActivator(inputChannel = INPUT)
    @IdempotentReceiver(INTERCEPTOR)
    MessageHandler worker(JdbcTemplate jdbc) {
        Effects effects = new Effects(jdbc, ID);
        return message -> effects.happen((String) message.getPayload());
    }

    static class Entrance {

        private final MessageChannel input;

        Entrance(DirectChannel benchmarkInput) {
            this.input = benchmarkInput;
        }

        @KafkaListener(id = ID, topics = "${benchmark.topic}")
        @Transactional
        void on(String payload, @Header("message-id") String id) {
            this.input.send(MessageBuilder.withPayload(payload)
                    .setHeader(MESSAGE_ID, id)
                    .build());
        }
    }
}
