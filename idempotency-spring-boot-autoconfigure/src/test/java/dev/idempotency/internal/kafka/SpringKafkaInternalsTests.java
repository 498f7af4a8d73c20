package dev.idempotency.internal.kafka;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.FilteringBatchMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.FilteringMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.util.backoff.FixedBackOff;

/** All that is read is there in this version of Spring Kafka: of some of it nothing else would notice the lack. */
class SpringKafkaInternalsTests {

    @Test
    void theFilterOfAListener() {
        RecordFilterStrategy<String, String> filter = record -> true;
        MessageListener<String, String> single = record -> {};
        assertThat(SpringKafkaInternals.filterOf(new FilteringMessageListenerAdapter<>(single, filter)))
                .isSameAs(filter);
        assertThat(SpringKafkaInternals.filterOf(new FilteringBatchMessageListenerAdapter<>(
                        (List<ConsumerRecord<String, String>> records) -> {}, filter)))
                .isSameAs(filter);
    }

    @Test
    void whetherAnErrorHandlerRecovers() {
        FixedBackOff backOff = new FixedBackOff(1, 1);
        DefaultErrorHandler recovering = new DefaultErrorHandler((record, failure) -> {}, backOff);
        assertThat(SpringKafkaInternals.hasNoRecoverer(recovering)).isFalse();
        assertThat(SpringKafkaInternals.hasNoRecoverer(new DefaultErrorHandler(backOff)))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.3.10", "5.0.0"})
    void aSpringKafkaOfAnotherGenerationIsRefusedWithItsVersion(String version) {
        ClassLoader classLoader = getClass().getClassLoader();
        assertThatIllegalStateException()
                .isThrownBy(() -> SpringKafkaInternals.requireSupported(version, classLoader))
                .withMessageStartingWith("@IdempotentListener does not work with Spring Kafka " + version)
                .withMessageContaining("Supported are 4.0, 4.1 and later 4.x");
    }

    @Test
    void aSpringKafkaWithoutAMemberThatIsNeededIsRefusedWithThatMember() {
        ClassLoader without = new FilteredClassLoader("org.springframework.kafka.listener.FailedRecordTracker"::equals);
        assertThrown(
                IllegalStateException.class,
                () -> SpringKafkaInternals.requireSupported("4.9.0", without),
                "Spring Kafka 4.9.0: it has no field",
                "in org.springframework.kafka.listener.FailedRecordTracker");
        assertThrown(
                IllegalStateException.class,
                () -> SpringKafkaInternals.requireSupported(null, without),
                "Spring Kafka of unknown version");
    }

    @Test
    void thisSpringKafkaIsSupportedAndSoIsOneThatDoesNotTellItsVersion() {
        SpringKafkaInternals.requireSupported();
        SpringKafkaInternals.requireSupported(null, getClass().getClassLoader());
    }
}
