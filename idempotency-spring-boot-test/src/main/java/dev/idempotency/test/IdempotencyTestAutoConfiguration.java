package dev.idempotency.test;

import dev.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.TopicLookup;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.ProducerFactory;

/** Auto-configuration of the test kit, which rejects applications that are not started by a test. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@EnableConfigurationProperties(IdempotencyTestProperties.class)
public final class IdempotencyTestAutoConfiguration {

    /** Runs before any other bean is created, and whether or not there is anything to test. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static BeanFactoryPostProcessor idempotencyTestContextGuard(Environment environment) {
        boolean allowed = environment.getProperty("idempotency.test.allow-outside-tests", Boolean.class, false);
        return beanFactory -> TestContextCustomizerFactory.requireTestContext(beanFactory, allowed);
    }

    /** Beans for applications that may have protected listeners. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(ListenerDefinitionRegistry.class)
    static final class TesterConfiguration {

        @Bean
        OutcomeRecorder idempotencyTestOutcomeRecorder() {
            return new OutcomeRecorder();
        }

        @Bean
        IdempotencyTester idempotencyTester(
                ListenerDefinitionRegistry definitions,
                ObjectProvider<KafkaListenerEndpointRegistry> endpoints,
                OutcomeRecorder outcomes,
                ObjectProvider<ProducerFactory<?, ?>> producers,
                IdempotencyTestProperties properties) {
            ContainerRunner runner = new ContainerRunner(new RecordLog(producers), properties.timeout());
            return new IdempotencyTester(definitions, endpoints, outcomes, runner);
        }

        @Bean
        static BrokerPresence idempotencyTestBrokerPresence(Environment environment) {
            return new BrokerPresence(environment.getProperty("idempotency.test.broker", Boolean.class));
        }

        @Bean
        BrokerlessStartup idempotencyTestBrokerlessStartup(
                ObjectProvider<KafkaListenerEndpointRegistry> endpoints, BrokerPresence brokers) {
            return new BrokerlessStartup(endpoints, brokers);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static BeanPostProcessor idempotencyTestClientPostProcessor(ObjectProvider<BrokerPresence> brokers) {
            return new ClientPostProcessor(brokers);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static RollbackAdvisor idempotencyTestRollbackAdvisor() {
            return RollbackAdvisor.INSTANCE;
        }

        @Bean
        @Conditional(OnRedelivery.class)
        RedeliveryInstaller idempotencyTestRedeliveryInstaller(
                ListenerDefinitionRegistry definitions, IdempotencyTestProperties properties) {
            return new RedeliveryInstaller(definitions, properties);
        }
    }

    /**
     * Captures sent records and answers look-ups of topics while the test kit delivers, and prevents the creation of topics
     * without a broker, which would block.
     */
    private record ClientPostProcessor(ObjectProvider<BrokerPresence> brokers) implements BeanPostProcessor {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (bean instanceof TopicLookup lookup) {
                return new LogTopicLookup(lookup);
            }
            if (bean instanceof ProducerFactory<?, ?> factory) {
                ProducerCapture.install(factory, this.brokers.getObject());
            } else if (bean instanceof KafkaAdmin admin && !isBrokerOf(admin)) {
                admin.setAutoCreate(false);
            }
            return bean;
        }

        private boolean isBrokerOf(KafkaAdmin admin) {
            Object servers = admin.getConfigurationProperties().get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG);
            return servers != null
                    && this.brokers
                            .getObject()
                            .isPresent(new BrokerConnection(
                                    Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, servers)));
        }
    }

    /** Matches if records are delivered twice, by either property. */
    private static final class OnRedelivery extends AnyNestedCondition {

        OnRedelivery() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty("idempotency.test.deliver-twice")
        static final class Twice {}

        // Any number, including 0.
        @ConditionalOnProperty(name = "idempotency.test.deliver-again-after")
        static final class AgainAfter {}
    }
}
