package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.internal.check.FaultyListeners.Faulty;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;

class TransactionManagerCheckIT {

    @Test
    void listenersWhoseTransactionsDoNotHoldTheirClaimsAreFound() {
        assertThat(FaultyListenersIT.findingsOf(List.of(), Managers.class, KafkaManager.class, Listeners.class))
                .extracting(finding -> finding.check() + " " + finding.where().replaceAll(".*Listeners\\.|\\(.*", "")
                        + ": " + finding.what().replaceFirst("does not manage .*|\\([^ ]*@.*", ""))
                .containsExactlyInAnyOrder(
                        "transaction-manager several: The listener needs one transaction manager, but there are several and"
                                + " none is named: [bound, hidden, other, unbound].",
                        "transaction-manager nobody: The listener names the transaction manager 'nobody', but no"
                                + " PlatformTransactionManager has that name or qualifier; there are"
                                + " [bound, other, hidden, unbound, kafka].",
                        "transaction-data-source other: Its transaction manager (JdbcTransactionManager) ",
                        "transaction-data-source kafka: Its transaction manager (KafkaTransactionManager) ",
                        "transaction-data-source unbound: Its transaction manager (Hidden) ",
                        "transaction-attributes two: Its @Transactional uses another transaction manager ",
                        "transaction-attributes configured: Its @Transactional uses another transaction manager ");
    }

    @Configuration(proxyBeanMethods = false)
    static class Managers implements TransactionManagementConfigurer {

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
            return new Hidden(new JdbcTransactionManager(dataSource));
        }

        @Bean
        PlatformTransactionManager unbound() {
            return new Hidden(this.other);
        }
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

    /** Does not say what it manages, as those of JTA and of other stores. */
    record Hidden(PlatformTransactionManager delegate) implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            return this.delegate.getTransaction(definition);
        }

        @Override
        public void commit(TransactionStatus status) {
            this.delegate.commit(status);
        }

        @Override
        public void rollback(TransactionStatus status) {
            this.delegate.rollback(status);
        }
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
