package dev.idempotency.benchmarks.measured;

import javax.sql.DataSource;
import org.apache.camel.CamelContext;
import org.apache.camel.CamelExecutionException;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.processor.idempotent.jdbc.JdbcMessageIdRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Camel's idempotent consumer with the repository of its SQL component, set up as in "Using the JDBC-based idempotent
 * repository": its transaction template requires a transaction, and so joins the listener's.
 */
@Import(CamelListener.Entrance.class)
@Configuration(proxyBeanMethods = false)
class CamelListener {

    static final String ID = "camel";

    private static final String ENTRY = "direct:benchmark";
    private static final String MESSAGE_ID = "messageId";

    @Bean(initMethod = "start", destroyMethod = "stop")
    CamelContext camelContext(DataSource dataSource, PlatformTransactionManager transactions, JdbcTemplate jdbc)
            throws Exception {
        Effects effects = new Effects(jdbc, ID);
        JdbcMessageIdRepository repository =
                new JdbcMessageIdRepository(dataSource, new TransactionTemplate(transactions), ID);
        DefaultCamelContext context = new DefaultCamelContext();
        context.addRoutes(new RouteBuilder() {

            @Override
            public void configure() {
                from(ENTRY)
                        .idempotentConsumer(header(MESSAGE_ID), repository)
                        .process(exchange -> effects.happen(exchange.getIn().getBody(String.class)));
            }
        });
        return context;
    }

    static class Entrance {

        private final ProducerTemplate producer;

        Entrance(CamelContext camelContext) {
            this.producer = camelContext.createProducerTemplate();
        }

        @KafkaListener(id = ID, topics = "${benchmark.topic}")
        @Transactional(rollbackFor = CamelExecutionException.class)
        void on(String payload, @Header("message-id") String id) {
            this.producer.sendBodyAndHeader(ENTRY, payload, MESSAGE_ID, id);
        }
    }
}
