package dev.idempotency.internal.listener;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.NotAcknowledgedException;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.ConsumerSeekAware;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

/** Behavior of record listeners that the delivery contract does not cover. */
@ListenersTest.Application
class RecordListenerIT extends ListenersTest {

    @Test
    void anAcknowledgmentIsDeferredWhereverItComesFromAndRefusedWhenTheListenerHasReturned() {
        deliver(ByHeader.class, "1:a", "1:a", "1:a");
        assertThat(effects(ByHeader.class)).containsExactly("a");
        assertThrown(IllegalStateException.class, this.app.bean(ByHeader.class)::acknowledgeLate, "before it returns");
    }

    /** The payload selects the way to seek, by the consumer or by a callback. */
    @Test
    void whatTheListenerSeeksBackToIsRolledBackAndRedelivered() {
        String[] seeks = {"consumer", "beginning", "offset", "function", "relative", "start", "time"};
        deliver(
                SeeksBack.class,
                Arrays.stream(seeks).map(seek -> seek + ":" + seek).toArray(String[]::new));
        assertThat(effects(SeeksBack.class)).containsExactlyInAnyOrder(seeks);
        assertThat(this.app.bean(SeeksBack.class).calls()).hasSize(2 * seeks.length);
        assertThat(failures(SeeksBack.class)).hasSize(seeks.length).allSatisfy(failure -> assertThat(failure)
                .isInstanceOf(NotAcknowledgedException.class)
                .hasMessageContaining("nack()"));
    }

    @Test
    void theListenerMaySeekOnwardsAndInOtherPartitions() {
        deliver(SeeksElsewhere.class, "1:a", "2:b");
        assertThat(effects(SeeksElsewhere.class)).containsExactly("a", "b");
        assertThat(failures(SeeksElsewhere.class)).isEmpty();
    }

    @Test
    void aDltHandlerIsCalledWhenARetriedMessageIsGivenUp() {
        deliver(Retried.class, "1:fails");
        Awaitility.await().until(() -> effects(Retried.class).contains("dead letter fails"));
    }

    @Test
    void aListenerCalledByHandIsRefusedRatherThanRunUnprotected() {
        Plain listener = this.app.bean(Plain.class);
        assertThrown(UnprotectedCallException.class, () -> listener.on("by hand"), "OfRecords.on");
        assertThat(effects(Plain.class)).doesNotContain("by hand");
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void onVirtualThreadsTheSameMessageIsAppliedOnceToo() {
        assertThat(effectsWith("spring.threads.virtual.enabled=true", true)).containsExactly("a");
    }

    @Test
    void whenSwitchedOffListenersRunAsIfTheLibraryWereAbsent() {
        assertThat(effectsWith("idempotency.enabled=false", false)).containsExactly("a", "a");
    }

    /** Sends a message twice to a separate application. */
    private static List<String> effectsWith(String property, boolean tables) {
        List<String> properties = List.of(property, "topic=" + TestKafka.createTopic("apart", 1));
        try (TestDatabase database = TestPostgres.createDatabase();
                TestApplication other = TestApplication.start(database, properties, Apart.class)) {
            String topic = other.context().getEnvironment().getProperty("topic");
            other.send(topic, "1", "a");
            other.send(topic, "1", "a");
            other.awaitCaughtUp("apart", topic);
            String sql = "select count(*) > 0 from pg_tables where tablename like 'idempotency%'";
            assertThat(other.jdbc().queryForObject(sql, Boolean.class)).isEqualTo(tables);
            return other.bean(Effects.class).all();
        }
    }

    @IdempotentListener
    static class Plain extends OfRecords {}

    static class ByHeader extends Listener {

        private Acknowledgment last;

        void acknowledgeLate() {
            this.last.acknowledge();
        }

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener
        void on(Message<String> message, @Header(KafkaHeaders.ACKNOWLEDGMENT) Acknowledgment acknowledgment) {
            assertThat(acknowledgment).isInstanceOf(DeferredAcknowledgment.class);
            this.last = acknowledgment;
            happen(message.getPayload());
            message.getHeaders()
                    .get(KafkaHeaders.ACKNOWLEDGMENT, Acknowledgment.class)
                    .acknowledge();
        }
    }

    abstract static class Seeking extends Listener implements ConsumerSeekAware {

        ConsumerSeekCallback callback;

        abstract void seek(ConsumerRecord<?, ?> record, TopicPartition partition, Consumer<?, ?> consumer);

        @Override
        public void registerSeekCallback(ConsumerSeekCallback callback) {
            this.callback = callback;
        }

        @OwnTopic(containerFactory = "handled")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record, Consumer<?, ?> consumer) {
            happen(record.value());
            if (Collections.frequency(calls(), record.value()) == 1) {
                seek(record, new TopicPartition(record.topic(), 0), consumer);
            }
        }
    }

    static class SeeksBack extends Seeking {

        @Override
        void seek(ConsumerRecord<?, ?> record, TopicPartition partition, Consumer<?, ?> consumer) {
            String topic = record.topic();
            long offset = record.offset();
            switch ((String) record.value()) {
                case "consumer" -> consumer.seek(partition, offset);
                case "beginning" -> consumer.seekToBeginning(List.of(partition));
                case "offset" -> this.callback.seek(topic, 0, offset);
                case "function" -> this.callback.seek(topic, 0, position -> Math.min(position, offset));
                case "relative" -> this.callback.seekRelative(topic, 0, offset - consumer.position(partition), true);
                case "start" -> this.callback.seekToBeginning(topic, 0);
                default -> this.callback.seekToTimestamp(List.of(partition), record.timestamp());
            }
        }
    }

    /** Seeks to the current position, and in another partition. */
    static class SeeksElsewhere extends Seeking {

        @Override
        void seek(ConsumerRecord<?, ?> record, TopicPartition partition, Consumer<?, ?> consumer) {
            consumer.seek(partition, consumer.position(partition));
            this.callback.seekToBeginning(record.topic(), 1);
            this.callback.seek(record.topic(), 0, record.offset() + 1);
            this.callback.seekToEnd(List.of(partition));
        }
    }

    static class Retried extends Listener {

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 10))
        @OwnTopic
        @IdempotentListener
        void on(String payload) {
            obey(payload);
        }

        @DltHandler
        void onDeadLetter(String payload) {
            happen("dead letter " + payload);
        }
    }

    static class Apart extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "apart")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
