package dev.idempotency.benchmarks.interceptor;

import dev.idempotency.IdempotentListener;
import dev.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import dev.idempotency.autoconfigure.IdempotencyListenerAutoConfiguration;
import java.util.List;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Listeners without work, a store that reports every message as new, and transactions without a database. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    KafkaAutoConfiguration.class,
    TransactionAutoConfiguration.class,
    IdempotencyAutoConfiguration.class,
    IdempotencyListenerAutoConfiguration.class
})
class InterceptorApplication {

    @Bean
    EverythingIsNew store() {
        return new EverythingIsNew();
    }

    @Bean
    PlatformTransactionManager transactionManager() {
        return new NoTransactions();
    }

    @Bean
    Listeners listeners() {
        return new Listeners();
    }

    static class Listeners {

        private int calls;

        @KafkaListener(id = "raw", topics = "benchmark")
        @Transactional
        void raw(String payload) {
            this.calls += payload.length();
        }

        @KafkaListener(id = "idempotent", topics = "benchmark")
        @IdempotentListener
        void idempotent(String payload) {
            this.calls += payload.length();
        }

        @KafkaListener(id = "expression", topics = "benchmark")
        @IdempotentListener(key = "#headers['message-id']")
        void expression(String payload) {
            this.calls += payload.length();
        }

        @KafkaListener(id = "raw-batch", topics = "benchmark", batch = "true")
        @Transactional
        void rawBatch(List<String> payloads) {
            this.calls += payloads.size();
        }

        @KafkaListener(id = "idempotent-batch", topics = "benchmark", batch = "true")
        @IdempotentListener
        void idempotentBatch(List<String> payloads) {
            this.calls += payloads.size();
        }
    }

    static final class NoTransactions extends AbstractPlatformTransactionManager {

        @java.io.Serial
        private static final long serialVersionUID = 1L;

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
