package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.Claim;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.ReplayException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.store.ProcessedMessageStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

@ExtendWith(OutputCaptureExtension.class)
class InboxReplayIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "letters", "stubborn", "origin", "nacked", "left", "others", "replaying");
        createTopics(3, "spread");
        start(Listeners.class, "idempotency.errors.initial-interval=1ms", "idempotency.errors.max-attempts=1");
    }

    private InboxEntry entry(String consumer, String id) {
        InboxMessage message = this.app.bean(Inbox.class).find(new MessageId(consumer, id));
        assertThat(message).as("message %s of %s", id, consumer).isNotNull();
        return message.entry();
    }

    private void failAt(String payload, int times) {
        this.app.bean(Listeners.class).failAt(payload, times);
    }

    /** Whoever listens at a dead-letter topic means that topic, not the one whose listener gave up. */
    @Test
    void aMessageGoesBackToTheTopicInWhichItsListenerFoundItThoughItCameFromAnother() {
        ProducerRecord<String, String> letter = new ProducerRecord<>(topic("letters"), "letter");
        letter.headers()
                .add(KafkaHeaders.DLT_ORIGINAL_TOPIC, topic("origin").getBytes(StandardCharsets.UTF_8))
                .add(
                        KafkaHeaders.DLT_ORIGINAL_PARTITION,
                        ByteBuffer.allocate(4).putInt(0).array())
                .add(
                        KafkaHeaders.DLT_ORIGINAL_OFFSET,
                        ByteBuffer.allocate(8).putLong(5).array());
        failAt("letter", 1);
        this.app.send(letter);
        awaitCaughtUp("letters");
        assertThat(effectsOf("letters")).isEmpty();
        List<InboxEntry> entries = this.app
                .bean(Inbox.class)
                .find(InboxQuery.ALL.withConsumer("letters"))
                .entries();
        assertThat(entries).singleElement().satisfies(failed -> {
            assertThat(failed.status()).isEqualTo(InboxStatus.FAILED);
            assertThat(failed.record().topic()).isEqualTo(topic("letters"));
            assertThat(failed.record().offset()).isZero();
        });

        assertThat(this.app.bean(Inbox.class).replayFailed("letters").sent()).isOne();
        awaitCaughtUp("letters");
        assertThat(TopicContents.values(topic("origin"))).isEmpty();
        assertThat(effectsOf("letters")).containsExactly("letters letter");
        assertThat(this.app
                        .bean(Inbox.class)
                        .find(InboxQuery.ALL.withConsumer("letters"))
                        .entries())
                .singleElement()
                .satisfies(processed -> assertThat(processed.status()).isEqualTo(InboxStatus.PROCESSED));
    }

    @Test
    void aReplayGoesToThePartitionOfItsRecord() {
        for (int partition = 0; partition < 3; partition++) {
            String payload = "to " + partition;
            failAt(payload, 1);
            ProducerRecord<String, String> record =
                    new ProducerRecord<>(topic("spread"), partition, "the same key", payload);
            record.headers().add("message-id", payload.getBytes(StandardCharsets.UTF_8));
            this.app.send(record);
        }
        awaitCaughtUp("spread");
        assertThat(this.app.bean(Inbox.class).replayFailed("spread").sent()).isEqualTo(3);
        awaitCaughtUp("spread");
        assertThat(TopicContents.of(topic("spread"))).hasSize(6).allSatisfy(record -> assertThat(record.value())
                .isEqualTo("to " + record.partition()));
        assertThat(effectsOf("spread")).containsExactly("spread to 0", "spread to 1", "spread to 2");
    }

    @Test
    void whatWasCommittedThoughTheListenerThrewIsShownAsProcessed() {
        failAt("stubborn", 1000);
        this.app.send(topic("stubborn"), "1", "stubborn");
        awaitCaughtUp("stubborn");
        assertThat(effectsOf("stubborn")).containsExactly("stubborn stubborn");
        assertThat(entry("stubborn", "1").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(entry("stubborn", "1").attempts()).isOne();
    }

    @Test
    void aReplayWithinATransactionOfJpaIsNoPartOfItAndDoesNotCommitIt() {
        assertThat(this.app.bean(PlatformTransactionManager.class)).isInstanceOf(JpaTransactionManager.class);
        insert("within", "1", InboxStatus.FAILED, topic("others"), 0, "x".getBytes(StandardCharsets.UTF_8));
        TransactionTemplate transaction = new TransactionTemplate(this.app.bean(PlatformTransactionManager.class));
        Effects effects = this.app.bean(Effects.class);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    effects.happen("within before");
                    this.app.bean(Inbox.class).replay(new MessageId("within", "1"));
                    effects.happen("within after");
                    throw new IllegalStateException("told to fail");
                }));
        assertThat(effectsOf("within")).isEmpty();
        assertThat(entry("within", "1").replays()).isOne();
        transaction.executeWithoutResult(status -> {
            effects.happen("within before");
            assertThatExceptionOfType(ReplayException.class)
                    .isThrownBy(() -> this.app.bean(Inbox.class).replay(new MessageId("within", "none")));
            effects.happen("within after");
        });
        assertThat(effectsOf("within")).containsExactly("within after", "within before");
    }

    @Test
    void aListenerThatReplaysAMessageAndFailsIsUndoneAsAWhole() {
        insert("within", "2", InboxStatus.FAILED, topic("others"), 0, "x".getBytes(StandardCharsets.UTF_8));
        this.app.send(topic("replaying"), "first", "2");
        awaitCaughtUp("replaying");
        assertThat(effectsOf("replaying")).isEmpty();
        assertThat(this.app.bean(ProcessedMessageStore.class).find(List.of(new MessageId("replaying", "first"))))
                .isEmpty();
        assertThat(entry("within", "2").replays()).isOne();
    }

    @Test
    void aNackIsAFailureToo() {
        failAt("nacked", 1);
        this.app.send(topic("nacked"), "1", "nacked");
        awaitCaughtUp("nacked");
        assertThat(effectsOf("nacked")).containsExactly("nacked nacked");
        assertThat(entry("nacked", "1").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(entry("nacked", "1").attempts()).isEqualTo(2);
        assertThat(entry("nacked", "1").lastError()).contains("nack()");
    }

    @Test
    void aMessageThatCannotBeSentIsFailedAgainAndItsPayloadIsNotLogged(CapturedOutput output) {
        byte[] payload = "secret-payload".repeat(100_000).getBytes(StandardCharsets.UTF_8);
        this.app.jdbc().update("""
                        insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                            record_offset, record_headers, payload, payload_size, attempts)
                        values ('large', '1', 'failed', ?, 0, 0, '', ?, ?, 1)
                        """, topic("origin"), payload, payload.length);
        Inbox inbox = this.app.bean(Inbox.class);
        assertThatExceptionOfType(ReplayException.class)
                .isThrownBy(() -> inbox.replay(new MessageId("large", "1")))
                .withMessageContaining("could not be sent to " + topic("origin"))
                .withMessageNotContaining("secret");
        assertThat(entry("large", "1").status()).isEqualTo(InboxStatus.FAILED);
        assertThat(entry("large", "1").attempts()).isOne();
        assertThat(entry("large", "1").lastError()).contains("RecordTooLargeException");
        assertThat(output).doesNotContain("secret-payload", "115, 101, 99, 114, 101, 116", "7365637265742d");
    }

    private void insert(String consumer, String id, InboxStatus status, String topic, int partition, byte[] payload) {
        this.app.jdbc().update("""
                        insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                            record_offset, record_headers, payload, payload_size, attempts)
                        values (?, ?, ?, ?, ?, 0, '', ?, ?, 1)
                        """, consumer, id, status.toString(), topic, partition, payload, payload.length);
    }

    @Test
    void whatCouldNotBeSentIsNotForgotten() {
        MessageId id = new MessageId("kept", "1");
        insert("kept", "1", InboxStatus.PROCESSED, topic("origin"), 0, new byte[2_000_000]);
        ProcessedMessageStore store = this.app.bean(ProcessedMessageStore.class);
        new TransactionTemplate(this.app.bean(PlatformTransactionManager.class))
                .executeWithoutResult(
                        status -> store.claim(List.of(new Claim(id, new RecordCoordinates(topic("origin"), 0, 0)))));
        Inbox inbox = this.app.bean(Inbox.class);
        assertThatExceptionOfType(ReplayException.class)
                .isThrownBy(() -> inbox.forgetAndReplay(id))
                .withMessageContaining("could not be sent to " + topic("origin"))
                .withMessageContaining("Nothing was forgotten");
        assertThat(store.find(List.of(id))).containsKey(id);
        assertThat(entry("kept", "1").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(entry("kept", "1").replays()).isZero();
    }

    @Test
    void aMessageWhoseTopicOrPartitionIsGoneDoesNotKeepOthersFromBeingReplayed() {
        byte[] payload = "x".getBytes(StandardCharsets.UTF_8);
        insert("gone", "partition", InboxStatus.FAILED, topic("left"), 7, payload);
        insert("gone", "topic", InboxStatus.FAILED, topic("gone"), 0, payload);
        insert("gone", "here", InboxStatus.FAILED, topic("others"), 0, payload);
        insert("gone", "there", InboxStatus.FAILED, topic("left"), 0, payload);
        assertThat(this.app.bean(Inbox.class).replayFailed("gone")).isEqualTo(new ReplayResult(2, 2, 0));
        assertThat(TopicContents.values(topic("left"))).containsExactly("x");
        assertThat(entry("gone", "partition").status()).isEqualTo(InboxStatus.FAILED);
        assertThat(entry("gone", "partition").lastError()).contains("no longer a partition 7 of topic");
        assertThat(entry("gone", "topic").lastError()).contains("no longer a topic");
    }

    @Import({Effects.class, TestApplication.WithJpa.class})
    static class Listeners {

        private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();
        private final Effects effects;
        private final ObjectProvider<Inbox> inbox;

        Listeners(Effects effects, ObjectProvider<Inbox> inbox) {
            this.effects = effects;
            this.inbox = inbox;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> manualAcks(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.getContainerProperties().setAckMode(AckMode.MANUAL);
            return factory;
        }

        @KafkaListener(topics = "letters${suffix}", groupId = "letters${suffix}")
        @IdempotentListener(consumer = "letters", key = "#coordinates", inbox = "true")
        void letters(String payload) {
            happen("letters", payload);
        }

        @KafkaListener(topics = "spread${suffix}", groupId = "spread${suffix}")
        @IdempotentListener(consumer = "spread", inbox = "true")
        void spread(String payload) {
            happen("spread", payload);
        }

        @KafkaListener(topics = "stubborn${suffix}", groupId = "stubborn${suffix}")
        @IdempotentListener(consumer = "stubborn", inbox = "true")
        @Transactional(noRollbackFor = IllegalStateException.class)
        void stubborn(String payload) {
            happen("stubborn", payload);
        }

        @KafkaListener(topics = "nacked${suffix}", groupId = "nacked${suffix}", containerFactory = "manualAcks")
        @IdempotentListener(consumer = "nacked", inbox = "true")
        void nacked(String payload, Acknowledgment acknowledgment) {
            this.effects.happen("nacked " + payload);
            if (this.failures.get(payload).getAndDecrement() > 0) {
                acknowledgment.nack(Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }

        @KafkaListener(topics = "replaying${suffix}", groupId = "replaying${suffix}")
        @IdempotentListener(consumer = "replaying")
        void replaying(String payload) {
            this.effects.happen("replaying " + payload);
            this.inbox.getObject().replay(new MessageId("within", payload));
            throw new IllegalStateException("told to fail");
        }

        void failAt(String payload, int times) {
            this.failures.put(payload, new AtomicInteger(times));
        }

        private void happen(String kind, String payload) {
            this.effects.happen(kind + " " + payload);
            AtomicInteger left = this.failures.get(payload);
            if (left != null && left.getAndDecrement() > 0) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
