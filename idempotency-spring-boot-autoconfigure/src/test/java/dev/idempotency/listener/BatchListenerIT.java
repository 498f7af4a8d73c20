package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;

class BatchListenerIT extends ApplicationTest {

    private static final String BATCH = "spring.kafka.listener.type=batch";
    private static final String NOT_YET = "spring.kafka.listener.auto-startup=false";

    /** Starts the listeners once all has been sent, so that it comes as one batch. */
    private TestApplication startWith(List<String> properties, Class<?> listener, String... idsAndPayloads) {
        List<String> all = new ArrayList<>(properties);
        all.add(BATCH);
        all.add(NOT_YET);
        TestApplication app = start(all, listener, Outcomes.class, Failures.class);
        for (String idAndPayload : idsAndPayloads) {
            int colon = idAndPayload.indexOf(':');
            String id = idAndPayload.substring(0, colon);
            app.send(this.topic, id.isEmpty() ? null : id, idAndPayload.substring(colon + 1));
        }
        app.bean(KafkaListenerEndpointRegistry.class).getListenerContainers().forEach(container -> container.start());
        return app;
    }

    @Test
    void theListenerGetsOnlyWhatIsNewInOrderAndOnce() {
        try (TestApplication app = startWith(List.of(), PayloadList.class, "1:a", "2:b", "1:a", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            app.send(this.topic, "2", "b");
            app.send(this.topic, "4", "d");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(PayloadList.class).batches().get(0)).isEqualTo("[a, b, c]");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "d");
            assertThat(app.bean(Outcomes.class).processed).hasSize(4);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(2);
        }
    }

    @Test
    void whenAllAreDuplicatesTheListenerIsNotCalledAndOffsetsAdvance() {
        try (TestApplication app = startWith(List.of(), PayloadList.class, "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            int calls = app.bean(PayloadList.class).batches().size();
            app.rewind(this.group, this.topic);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(PayloadList.class).batches()).hasSize(calls);
        }
    }

    @Test
    void everyParallelArgumentIsFilteredAlike() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), AllArguments.class, "1:a", "2:b", "1:a", "3:c")) {
            for (String suffix : List.of("-lists", "-arrays", "-records", "-messages", "-poll")) {
                app.awaitCaughtUp(this.group + suffix, this.topic);
            }
            assertThat(app.bean(AllArguments.class).seen())
                    .containsExactlyInAnyOrder(
                            "lists [a, b, c] [0, 1, 3] [1, 2, 3] [0, 1, 3]",
                            "arrays [a, b, c] [0, 1, 3] Optional[[0, 1, 3]] [0, 1, 3] [0, 0, 0]",
                            "records [a, b, c] [0, 1, 3]",
                            "messages [a, b, c]",
                            "poll [a, b, c] next {" + this.topic + "-0=4}");
        }
    }

    @Test
    void keysComeFromTheElementThatBelongsToTheRecord() {
        try (TestApplication app = startWith(List.of(), KeyFromElement.class, ":a", ":b", ":a")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("a/a/0", "b/b/1");
        }
    }

    @Test
    void withAFilterTheRecordsRemainThoseOfTheArguments() {
        try (TestApplication app =
                startWith(List.of(), FilteredList.class, "1:filtered", "2:b", "3:filtered", "2:b", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("b", "d");
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("2", "4");
        }
    }

    @Test
    void aRecordWithoutAKeyIsRecoveredAloneAndTheOthersAreProcessed() {
        try (TestApplication app = startWith(List.of(), PayloadList.class, "1:a", "2:b", ":no key", "3:c", "1:a")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            Failures failures = app.bean(Failures.class);
            assertThat(failures.recovered())
                    .extracting(ConsumerRecord::value)
                    .asString()
                    .isEqualTo("[no key]");
        }
    }

    @Test
    void whenTheListenerNamesTheRecordThatFailedThoseBeforeItAreDoneAndItAloneIsGivenUp() {
        try (TestApplication app = startWith(List.of(), NamesFailure.class, "1:a", "2:b", "3:poison", "4:d", "1:a")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "d");
            assertThat(app.bean(Failures.class).recovered())
                    .extracting(ConsumerRecord::value)
                    .asString()
                    .isEqualTo("[poison]");
        }
    }

    @Test
    void aNegativeAcknowledgmentAtAnIndexRollsBackTheWholeBatch() {
        try (TestApplication app =
                startWith(List.of("spring.kafka.listener.ack-mode=manual"), NacksAtIndex.class, "1:a", "2:b", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(app.bean(NacksAtIndex.class).sizes()).containsExactly(3, 3);
        }
    }

    @Test
    void anAcknowledgedIndexIsThatOfTheRecordTheListenerSaw() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual_immediate"),
                AcknowledgesByIndex.class,
                "1:a",
                "1:a",
                "1:a",
                "2:b",
                "3:c")) {
            Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(
                            TestApplication.committedOffsets(this.group, this.topic))
                    .isEqualTo(Map.of(0, 5L)));
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(2);
        }
    }

    @Import(Effects.class)
    static class PayloadList {

        private final List<String> batches = new CopyOnWriteArrayList<>();
        private final Effects effects;

        PayloadList(Effects effects) {
            this.effects = effects;
        }

        List<String> batches() {
            return this.batches;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            assertThat(payloads).isNotEmpty();
            this.batches.add(payloads.toString());
            payloads.forEach(this.effects::happen);
        }
    }

    static class AllArguments {

        private final List<String> seen = new CopyOnWriteArrayList<>();

        List<String> seen() {
            return this.seen;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-lists")
        @IdempotentListener
        void lists(
                List<String> payloads,
                @Header(KafkaHeaders.OFFSET) List<Long> offsets,
                @Headers Map<String, Object> headers,
                @Header(KafkaHeaders.BATCH_CONVERTED_HEADERS) List<Map<String, Object>> converted,
                Consumer<?, ?> consumer,
                Acknowledgment acknowledgment) {
            List<String> ids = converted.stream()
                    .map(each -> new String((byte[]) each.get("message-id"), StandardCharsets.UTF_8))
                    .toList();
            this.seen.add("lists %s %s %s %s".formatted(payloads, offsets, ids, headers.get(KafkaHeaders.OFFSET)));
            assertThat(consumer.assignment()).isNotEmpty();
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-arrays", info = "four")
        @IdempotentListener(key = "(#all['kafka_offset'] == 2 ? 0 : #offsets) + '/' + (#offsets == 2 ? 0 : #some)")
        void arrays(
                Collection<String> payloads,
                @Header(KafkaHeaders.OFFSET) long[] offsets,
                @Header(KafkaHeaders.OFFSET) Optional<List<Long>> some,
                @Header(KafkaHeaders.OFFSET) Iterable<Long> iterable,
                @Header(KafkaHeaders.RECEIVED_PARTITION) Integer[] partitions,
                @Headers Map<String, Object> all,
                @Header(KafkaHeaders.LISTENER_INFO) String info,
                Acknowledgment acknowledgment) {
            assertThat(info).isEqualTo("four");
            this.seen.add("arrays %s %s %s %s %s"
                    .formatted(payloads, Arrays.toString(offsets), some, iterable, Arrays.toString(partitions)));
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-records")
        @IdempotentListener
        void records(List<ConsumerRecord<String, String>> records, Acknowledgment acknowledgment) {
            this.seen.add(
                    "records " + records.stream().map(ConsumerRecord::value).toList() + " "
                            + records.stream().map(ConsumerRecord::offset).toList());
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-messages")
        @IdempotentListener
        void messages(List<Message<String>> messages, Acknowledgment acknowledgment) {
            this.seen.add(
                    "messages " + messages.stream().map(Message::getPayload).toList());
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-poll")
        @IdempotentListener
        void poll(ConsumerRecords<String, String> records, Acknowledgment acknowledgment) {
            List<String> values = new ArrayList<>();
            records.forEach(record -> values.add(record.value()));
            Map<String, Long> next = new TreeMap<>();
            records.nextOffsets().forEach((partition, offset) -> next.put(partition.toString(), offset.offset()));
            this.seen.add("poll " + values + " next " + next);
            acknowledgment.acknowledge();
        }
    }

    @Import(Effects.class)
    static class KeyFromElement {

        private final Effects effects;

        KeyFromElement(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#payload + '/' + #texts + '/' + (#payload == 'a' ? 0 : #offsets)")
        void on(List<String> texts, @Header(KafkaHeaders.OFFSET) List<Long> offsets) {
            texts.forEach(this.effects::happen);
        }
    }

    @Import(Effects.class)
    static class FilteredList {

        private final Effects effects;

        FilteredList(Effects effects) {
            this.effects = effects;
        }

        @Bean
        static RecordFilterStrategy<String, String> withoutFiltered() {
            return new RecordFilterStrategy<>() {

                @Override
                public boolean filter(ConsumerRecord<String, String> record) {
                    return record.value().equals("filtered");
                }

                @Override
                public List<ConsumerRecord<String, String>> filterBatch(List<ConsumerRecord<String, String>> records) {
                    return records.stream().filter(record -> !filter(record)).toList();
                }
            };
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", filter = "withoutFiltered")
        @IdempotentListener
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }

    @Import(Effects.class)
    static class NamesFailure {

        private final Effects effects;

        NamesFailure(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                if (payloads.get(i).equals("poison")) {
                    throw new BatchListenerFailedException("poison", new IllegalArgumentException("poison"), i);
                }
                this.effects.happen(payloads.get(i));
            }
        }
    }

    @Import(Effects.class)
    static class NacksAtIndex {

        private final List<Integer> sizes = new CopyOnWriteArrayList<>();
        private final Effects effects;

        NacksAtIndex(Effects effects) {
            this.effects = effects;
        }

        List<Integer> sizes() {
            return this.sizes;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            this.sizes.add(payloads.size());
            payloads.forEach(this.effects::happen);
            if (this.sizes.size() == 1) {
                acknowledgment.nack(2, Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    static class AcknowledgesByIndex {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            acknowledgment.acknowledge(1);
            acknowledgment.acknowledge(2);
        }
    }
}
