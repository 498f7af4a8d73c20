package dev.idempotency.internal.check;

import dev.idempotency.internal.check.FaultyListeners.Faulty;
import java.lang.reflect.Proxy;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;

/** Several transaction managers, and listeners whose transactions do not include their claims. */
@Configuration(proxyBeanMethods = false)
@Import({FaultyTransactionManagers.KafkaManager.class, FaultyTransactionManagers.Listeners.class})
class FaultyTransactionManagers implements TransactionManagementConfigurer {

    private final PlatformTransactionManager other =
            new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"));

    @Override
    public TransactionManager annotationDrivenTransactionManager() {
        return this.other;
    }

    @Bean
    PlatformTransactionManager bound(DataSource dataSource) {
        return new JdbcTransactionManager(dataSource);
    }

    @Bean
    PlatformTransactionManager other() {
        return this.other;
    }

    @Bean
    PlatformTransactionManager hidden(DataSource dataSource) {
        return hide(new JdbcTransactionManager(dataSource));
    }

    @Bean
    PlatformTransactionManager unbound() {
        return hide(this.other);
    }

    @Configuration(proxyBeanMethods = false)
    static class KafkaManager {

        @Bean
        KafkaTransactionManager<?, ?> kafka(ProducerFactory<?, ?> producers) {
            var transactional = new DefaultKafkaProducerFactory<Object, Object>(producers.getConfigurationProperties());
            transactional.setTransactionIdPrefix("tx-");
            return new KafkaTransactionManager<>(transactional);
        }
    }

    /** Hides the managed resource, like the transaction managers of JTA and of other stores. */
    private static PlatformTransactionManager hide(PlatformTransactionManager delegate) {
        return (PlatformTransactionManager) Proxy.newProxyInstance(
                FaultyTransactionManagers.class.getClassLoader(),
                new Class<?>[] {PlatformTransactionManager.class},
                (proxy, method, arguments) -> method.invoke(delegate, arguments));
    }

    static class Listeners {

        @Faulty
        void several(String payload) {}

        @Faulty(transactionManager = "nobody")
        void nobody(String payload) {}

        @Transactional("other")
        @Faulty
        public void other(String payload) {}

        @Faulty(transactionManager = "kafka")
        void kafka(String payload) {}

        @Faulty(transactionManager = "unbound")
        void unbound(String payload) {}

        @Faulty(transactionManager = "hidden")
        void hidden(String payload) {}

        @Transactional
        @Faulty(transactionManager = "hidden")
        public void configured(String payload) {}

        @Transactional("other")
        @Faulty(transactionManager = "bound")
        public void two(String payload) {}

        @Faulty(transactionManager = "bound")
        void bound(String payload) {}

        @Transactional(transactionManager = "${nowhere.set:bound}")
        @Faulty
        public void boundByPlaceholder(String payload) {}
    }
}
