package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.IdempotentListener;
import dev.idempotency.NotAcknowledgedException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.TestApplication;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.ConsumerSeekAware;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

class AcknowledgmentIT extends ApplicationTest {

    private TestApplication startWith(String ackMode, Class<?>... classes) {
        return start(List.of("spring.kafka.listener.ack-mode=" + ackMode), classes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"manual", "manual_immediate"})
    void aDuplicateIsAcknowledgedThoughTheListenerIsNotCalled(String ackMode) {
        try (TestApplication app = startWith(ackMode, Acknowledging.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
        }
    }

    @Test
    void anAcknowledgmentInsideTheListenerTakesEffectAfterTheCommitAndNotIfThatFails() {
        try (TestApplication app =
                startWith("manual_immediate", AcknowledgesAndCommitFailsOnce.class, Failures.class)) {
            AcknowledgesAndCommitFailsOnce.group = this.group;
            AcknowledgesAndCommitFailsOnce.topic = this.topic;
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(AcknowledgesAndCommitFailsOnce.class).committedWhenAcknowledging())
                    .as("offsets committed at the moment of the second acknowledgment, before its commit")
                    .isEmpty();
        }
    }

    @Test
    void aNegativeAcknowledgmentRollsBackSoThatTheRedeliveryRuns() {
        try (TestApplication app = startWith("manual", NacksTwice.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(app.bean(NacksTwice.class).calls()).isEqualTo(4);
        }
    }

    @Test
    void anAcknowledgmentThatComesByAHeaderIsHeldBackToo() {
        try (TestApplication app = startWith("manual", AcknowledgesByHeader.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("DeferredAcknowledgment", "a");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {AcknowledgesLater.class, SeeksBack.class, SeeksBackByCallback.class})
    void whatTheListenerDoesNotAcknowledgeIsRolledBackAndRedelivered(Class<? extends Unfinished> listener) {
        String ackMode = (listener == AcknowledgesLater.class) ? "manual" : "record";
        try (TestApplication app = startWith(ackMode, listener, Failures.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(app.bean(listener).calls()).containsExactly("a", "a", "b");
            assertThat(app.bean(Failures.class).causes()).singleElement().isInstanceOf(NotAcknowledgedException.class);
        }
    }

    @Test
    void anAcknowledgmentAfterTheListenerHasReturnedIsRefused() {
        try (TestApplication app = startWith("manual", AcknowledgesLater.class, Failures.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThatIllegalStateException()
                    .isThrownBy(app.bean(AcknowledgesLater.class).kept()::acknowledge)
                    .withMessageContaining("before it returns");
        }
    }

    @Import(Effects.class)
    static class Acknowledging {

        private final Effects effects;

        Acknowledging(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            this.effects.happen(payload);
            acknowledgment.acknowledge();
        }
    }

    @Import(Effects.class)
    static class AcknowledgesAndCommitFailsOnce {

        static String group;
        static String topic;

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;
        private final JdbcTemplate jdbc;
        private Map<Integer, Long> committedWhenAcknowledging;

        AcknowledgesAndCommitFailsOnce(Effects effects, JdbcTemplate jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
            jdbc.execute("create table once (id integer unique deferrable initially deferred)");
            jdbc.update("insert into once (id) values (1)");
        }

        Map<Integer, Long> committedWhenAcknowledging() {
            return this.committedWhenAcknowledging;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            this.effects.happen(payload);
            this.jdbc.update("insert into once (id) values (?)", this.calls.incrementAndGet());
            acknowledgment.acknowledge();
            this.committedWhenAcknowledging = TestApplication.committedOffsets(group, topic);
        }
    }

    @Import(Effects.class)
    static class NacksTwice {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        NacksTwice(Effects effects) {
            this.effects = effects;
        }

        int calls() {
            return this.calls.get();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            this.effects.happen(payload);
            if (this.calls.incrementAndGet() <= 2) {
                acknowledgment.nack(Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    @Import(Effects.class)
    static class AcknowledgesByHeader {

        private final Effects effects;

        AcknowledgesByHeader(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(Message<String> message, @Header(KafkaHeaders.ACKNOWLEDGMENT) Acknowledgment acknowledgment) {
            this.effects.happen(message.getPayload());
            this.effects.happen(acknowledgment.getClass().getSimpleName());
            message.getHeaders()
                    .get(KafkaHeaders.ACKNOWLEDGMENT, Acknowledgment.class)
                    .acknowledge();
        }
    }

    /** Its first call does not say that the message is done. */
    @Import(Effects.class)
    abstract static class Unfinished {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        @Autowired
        private Effects effects;

        List<String> calls() {
            return this.calls;
        }

        /** Whether this call is the first. */
        boolean work(String payload) {
            this.calls.add(payload);
            this.effects.happen(payload);
            return this.calls.size() == 1;
        }
    }

    static class AcknowledgesLater extends Unfinished {

        private Acknowledgment kept;

        Acknowledgment kept() {
            return this.kept;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            if (work(payload)) {
                this.kept = acknowledgment;
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    static class SeeksBack extends Unfinished {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record, Consumer<?, ?> consumer) {
            if (work(record.value())) {
                consumer.seek(new TopicPartition(record.topic(), record.partition()), record.offset());
            }
        }
    }

    static class SeeksBackByCallback extends Unfinished implements ConsumerSeekAware {

        private ConsumerSeekCallback callback;

        @Override
        public void registerSeekCallback(ConsumerSeekCallback callback) {
            this.callback = callback;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record) {
            if (work(record.value())) {
                this.callback.seek(record.topic(), record.partition(), record.offset());
            }
        }
    }
}
