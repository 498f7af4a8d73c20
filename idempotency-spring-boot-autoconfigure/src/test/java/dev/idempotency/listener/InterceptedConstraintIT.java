package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testing.TestPostgres;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.RecordInterceptor;

/** The same with an interceptor, for whose sake the records of a poll are handed over one after the other. */
class InterceptedConstraintIT extends AbstractConstraintIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Override
    Class<?> listeners() {
        return Intercepted.class;
    }

    private void deliverAsOnePoll(String... payloads) {
        this.app
                .bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer("polls")
                .stop();
        deliver("polls", payloads);
    }

    @Test
    void aPollMayBeginWithADuplicate() {
        deliverAsOnePoll("head-a", "head-b");
        Tally.OfConsumer tally = tally("polls");
        int failed = tally.failed.get();
        tally.duplicates.clear();
        deliverAsOnePoll("head-a", "head-b", "head-c");
        assertThat(effects("head-")).containsExactly("head-a", "head-b", "head-c");
        assertThat(deadLetters("polls", "head-")).isEmpty();
        assertThat(tally.duplicates).hasSize(2);
        assertThat(tally.failed).hasValue(failed);
    }

    static class AnyInterceptor implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            return record;
        }
    }

    @Import(AnyInterceptor.class)
    static class Intercepted extends Listeners {

        Intercepted(Payments payments) {
            super(payments);
        }
    }
}
