package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.PartitionPosition;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.testing.TestKafka;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.context.annotation.Bean;

/** Behavior of the strategies {@code OFFSET} and {@code VERSION} that the delivery contract does not cover. */
@ListenersTest.Application(
        beans = {SimpleMeterRegistry.class, StrategiesIT.Factories.class},
        properties = {
            "idempotency.retention=2d",
            "spring.kafka.consumer.isolation-level=read_committed",
            "management.endpoints.web.exposure.include=idempotency",
            "management.endpoint.idempotency.access=unrestricted"
        })
class StrategiesIT extends ListenersTest {

    private static final AtomicInteger REORDERED = new AtomicInteger();

    @Test
    void aPositionThatIsForgottenLetsARewindBeProcessedAgain() {
        assertDelivered("Forgotten", ":a :b", "a b", null);
        String topic = topic(Forgotten.class);
        assertThat(this.app.bean(JdbcPositionStore.class).positionsOf("forgotten"))
                .extracting(PartitionPosition::topic, PartitionPosition::partition, PartitionPosition::nextOffset)
                .containsExactly(tuple(topic, 0, 2L));
        assertThat(this.app.jdbc().queryForObject("select count(*) from idempotency_processed", Integer.class))
                .isZero();
        IdempotencyEndpoint endpoint = this.app.bean(IdempotencyEndpoint.class);
        String record = topic + "-0@0";
        assertThat(endpoint.read("forgotten", record))
                .asString()
                .contains("messageId=" + record, "processed=true", "record=" + record);
        assertThat(endpoint.read("forgotten", topic + "-0@2")).asString().contains("processed=false", "record=null");
        assertThat(endpoint.read("forgotten", topic + "-7@0")).isNull();
        assertThatExceptionOfType(InvalidEndpointRequestException.class)
                .isThrownBy(() -> endpoint.read("forgotten", "an id"));
        for (int status : new int[] {204, 404}) {
            assertThat(endpoint.forget("forgotten", null, topic, 0, SecurityContext.NONE)
                            .getStatus())
                    .isEqualTo(status);
        }
        deliverAgain(Forgotten.class);
        assertThat(effects(Forgotten.class)).containsExactly("a", "a", "b", "b");
    }

    @ParameterizedTest
    @ValueSource(classes = {Records.class, Batches.class, Polls.class})
    void aLogThatEndsBeforeThePositionDoesNotLoseAMessage(Class<? extends Listener> listener) {
        deliver(listener, ":a", ":b");
        stopListeners();
        double resets = resets();
        this.app.jdbc().update("update idempotency_position set next_offset = 1000");
        deliver(listener, ":c", ":d");
        deliver(listener, ":e");
        assertThat(effects(listener)).containsExactly("a", "b", "c", "d", "e");
        assertThat(outcomes(listener).resets).containsExactly(new RecordCoordinates(topic(listener), 0, 2));
        assertThat(resets()).isEqualTo(resets + 1);
    }

    private double resets() {
        return this.app.bean(MeterRegistry.class).get(IdempotencyMeters.POSITION_RESETS).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void gapsThatTransactionsOfAProducerLeaveAreNeitherWaitedForNorTakenForWhatIsDone() {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", TestKafka.bootstrapServers(), "transactional.id", topic(Gaps.class));
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (String value : List.of("a", "undone", "b", "c", "undone", "d")) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(topic(Gaps.class), 0, null, value));
                if (value.equals("undone")) {
                    producer.flush();
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
        // The topic ends with the marker of the last transaction, whose offset is never committed.
        startContainers(Gaps.class);
        await().until(() -> effects(Gaps.class).size() == 4);
        stopListeners();
        TestApplication.commitBeginning(topic(Gaps.class), topic(Gaps.class));
        startContainers(Gaps.class);
        await().until(() -> outcomes(Gaps.class).duplicates.size() == 4);
        assertThat(effects(Gaps.class)).containsExactly("a", "b", "c", "d");
    }

    /** Records are reordered from the second delivery on. The first one fails, so that they are processed one by one. */
    @ParameterizedTest
    @ValueSource(classes = {ReorderedBatches.class, ReorderedPolls.class})
    void recordsInAnotherOrderAreNotTakenForDuplicates(Class<? extends Listener> listener) {
        REORDERED.set(3);
        deliver(listener, ":a", ":fails", ":c");
        assertThat(effects(listener)).containsExactly("a", "c");
        assertThat(givenUp(listener)).containsExactly("fails");
    }

    @IdempotentListener(consumer = "forgotten", strategy = DeduplicationStrategy.OFFSET)
    static class Forgotten extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class Records extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class Batches extends OfBatches {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET, transactionPerPoll = "true")
    static class Polls extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class Gaps extends OfBatches {}

    @Container(factory = "reordering")
    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class ReorderedBatches extends OfBatches {}

    @Container(factory = "reordering")
    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET, transactionPerPoll = "true")
    static class ReorderedPolls extends OfRecords {}

    static class Factories {

        /** Reverses the second and the third of three deliveries. */
        @Bean
        static ContainerFactory reordering(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchInterceptor((records, consumer) -> {
                int remaining = REORDERED.getAndDecrement();
                return (remaining == 2 || remaining == 1) ? reversed(records) : records;
            }));
        }

        private static ConsumerRecords<Object, Object> reversed(ConsumerRecords<Object, Object> records) {
            List<ConsumerRecord<Object, Object>> reversed = new ArrayList<>();
            records.forEach(record -> reversed.add(0, record));
            return new ConsumerRecords<>(Map.of(records.partitions().iterator().next(), reversed), Map.of());
        }
    }

    private static final String ENTITY = "#payload.split('=')[0]";
    private static final String VERSION = "#payload.split('=')[1]";

    @Test
    void theEndpointShowsAndForgetsVersions() {
        assertDelivered("Versions", ":a=1 :a=3 :b=2 :none :c== :c=1.5 :a=4", "a@1 a@3 a@4 b@2", "none c== c=1.5");
        IdempotencyEndpoint endpoint = this.app.bean(IdempotencyEndpoint.class);
        assertThat(String.valueOf(endpoint.read("versions", null)))
                .contains("strategy=VERSION", "version from expression '" + VERSION + "'", "oldestAge=PT");
        assertThat(String.valueOf(endpoint.read("versions", "a"))).contains("version=4", "processed=true");
        assertThat(String.valueOf(endpoint.read("versions", "x"))).contains("processed=false");
        for (int status : new int[] {204, 404}) {
            assertThat(endpoint.forget("versions", "b", null, null, SecurityContext.NONE)
                            .getStatus())
                    .isEqualTo(status);
        }
        deliver(Versions.class, ":b=1");
        assertThat(effects(Versions.class)).contains("b@1");
        assertThat(this.app.bean(Cleanup.class).run().deletedByTask()).containsKey("versions");
    }

    static class Versions extends Listener {

        @OwnTopic
        @IdempotentListener(
                consumer = "versions",
                strategy = DeduplicationStrategy.VERSION,
                key = ENTITY,
                version = VERSION)
        void on(String payload) {
            happen(IdempotencyContext.current().messageId().value());
        }
    }
}
