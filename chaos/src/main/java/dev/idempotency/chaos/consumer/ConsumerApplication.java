package dev.idempotency.chaos.consumer;

import dev.idempotency.store.ProcessedMessageStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.common.TopicPartition;
import org.springframework.aop.Advisor;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.backoff.FixedBackOff;
import tools.jackson.databind.json.JsonMapper;

/** The application under test, in a separate JVM: it is killed, suspended and resumed, and loses its servers. */
@SpringBootApplication
public class ConsumerApplication {

    public static final String TOPIC = "chaos";
    public static final String DEAD_LETTERS = TOPIC + "-dlt";

    /** The dead-letter topic of the listener with a custom error handler. */
    public static final String OWN_DEAD_LETTERS = TOPIC + "-own-dlt";

    /** A process that is suspended for longer loses its partitions. */
    public static final int MAX_POLL_INTERVAL_SECONDS = 9;

    /** Creates the tables that the application does not create. */
    public static final List<String> TABLES =
            List.of(Effects.TABLE, UniqueListener.TABLE, SabotagedStore.TABLE, SlotEmptier.TABLE);

    /**
     * Starts the application.
     *
     * @param arguments instance, JDBC URL, brokers, sabotage, profiles (listeners, and optionally ring), and the file for counts
     */
    public static void main(String[] arguments) {
        Sabotage sabotage = Sabotage.valueOf(arguments[3]);
        Map<String, Object> properties = new HashMap<>();
        properties.put("chaos.instance", arguments[0]);
        properties.put("chaos.sabotage", sabotage.name());
        properties.put("chaos.counts", arguments[5]);
        properties.put("chaos.calls", arguments[5].replace(".counts", ".calls"));
        properties.put("spring.datasource.url", arguments[1]);
        properties.put("spring.datasource.hikari.connection-timeout", 3_000);
        properties.put("spring.datasource.hikari.maximum-pool-size", 20);
        properties.put("spring.kafka.bootstrap-servers", arguments[2]);
        properties.put("spring.kafka.consumer.auto-offset-reset", "earliest");
        properties.put("spring.kafka.consumer.max-poll-records", 200);
        properties.put("spring.kafka.consumer.properties.session.timeout.ms", 6_000);
        properties.put("spring.kafka.consumer.properties.max.poll.interval.ms", MAX_POLL_INTERVAL_SECONDS * 1_000);
        properties.put("spring.kafka.listener.concurrency", 2);
        properties.put("idempotency.claim.timeout", "3s");
        properties.put("idempotency.cleanup.interval", "2s");
        properties.put("idempotency.errors.initial-interval", "50ms");
        properties.put("idempotency.errors.max-interval", "1s");
        properties.put("idempotency.errors.max-attempts", 4);
        properties.put("idempotency.checks.mode", (sabotage == Sabotage.NONE) ? "fail" : "warn");
        if (List.of(arguments[4].split(",")).contains("ring")) {
            properties.put("idempotency.retention-mode", "ring");
            properties.put("idempotency.ring.width", "2s");
        }
        SpringApplication application = new SpringApplication(ConsumerApplication.class);
        application.setAdditionalProfiles(arguments[4].split(","));
        application.setDefaultProperties(properties);
        application.run();
    }

    /** Serializes the results of steps. */
    @Bean
    JsonMapper jsonMapper() {
        return JsonMapper.builder().build();
    }

    /** Calls some of the listeners again when they fail, like an aspect for retries. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor retryingAspect() {
        Set<Class<?>> retried = Set.of(RecordListener.class, BatchListener.class, ManualListener.class);
        MethodInterceptor retry = call -> {
            try {
                return ((ProxyMethodInvocation) call).invocableClone().proceed();
            } catch (IllegalArgumentException ex) {
                return call.proceed();
            }
        };
        return new DefaultPointcutAdvisor(new ComposablePointcut((ClassFilter) retried::contains), retry);
    }

    @Bean
    MeterRegistry meterRegistry() {
        return new SimpleMeterRegistry();
    }

    @Bean
    @Profile("handler")
    ConcurrentKafkaListenerContainerFactory<Object, Object> ownErrorHandlerFactory(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
            ConsumerFactory<Object, Object> consumers,
            KafkaTemplate<Object, Object> template) {
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        configurer.configure(factory, consumers);
        factory.setCommonErrorHandler(new DefaultErrorHandler(
                new DeadLetterPublishingRecoverer(
                        template, (record, failure) -> new TopicPartition(OWN_DEAD_LETTERS, 0)),
                new FixedBackOff(100, 3)));
        return factory;
    }

    @Bean
    @ConditionalOnProperty(name = "chaos.sabotage", havingValue = "SEPARATE_CLAIM")
    ProcessedMessageStore sabotagedStore(JdbcTemplate jdbc, PlatformTransactionManager transactionManager) {
        return new SabotagedStore(jdbc, transactionManager);
    }
}
