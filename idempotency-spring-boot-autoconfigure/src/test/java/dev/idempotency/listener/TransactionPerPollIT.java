package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.BrokenCommits;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.serializer.ErrorHandlingDeserializer;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.backoff.FixedBackOff;

class TransactionPerPollIT extends OneBatchTest {

    private static final String TRANSACTIONS = "select count(distinct xmin::text) from %s";

    @Override
    String listenerType() {
        return "single";
    }

    private TestApplication startWith(Class<?> listener, String... messages) {
        return startWith(List.of(), listener, messages);
    }

    @Test
    void allRecordsOfAPollAreClaimedAndProcessedInOneTransaction() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", "2:b", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(OneByOne.class).calls()).containsExactly("1 a", "2 b", "3 c");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(app.jdbc().queryForObject(TRANSACTIONS.formatted("effect"), Integer.class))
                    .isOne();
            assertThat(app.jdbc().queryForObject(TRANSACTIONS.formatted("idempotency_processed"), Integer.class))
                    .isOne();
            assertThat(app.bean(Outcomes.class).processed).hasSize(3);
        }
    }

    @Test
    void duplicatesOfTheSamePollAndOfEarlierOnesAreDropped() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", "1:a", "2:b", "1:a")) {
            app.awaitCaughtUp(this.group, this.topic);
            app.send(this.topic, "2", "b");
            app.send(this.topic, "3", "c");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(OneByOne.class).calls()).containsExactly("1 a", "2 b", "3 c");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(3);
        }
    }

    @Test
    void aRecordThatFailsIsRetriedAndDeadLetteredAlone() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", "2:b", "3:fails", "4:d", "5:fails too", "6:f")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "d", "f");
            assertThat(deadLetters()).containsExactly("fails", "fails too");
            assertThat(app.bean(OneByOne.class).calls())
                    .filteredOn(call -> call.equals("3 fails"))
                    .as("calls of the one that fails: one an attempt, and one to see that it is not the others' fault")
                    .hasSize(4);
            assertThat(app.bean(Outcomes.class).processed).hasSize(4);
            assertThat(app.bean(Outcomes.class).retried)
                    .as("two retries each of the two that fail")
                    .hasValue(4);
            assertThat(app.bean(Outcomes.class).duplicates).isEmpty();
        }
    }

    @Test
    void anErrorHandlerOfTheApplicationIsToldWhichRecordFailed() {
        try (TestApplication app = startWith(OneByOneWithErrorHandler.class, "1:a", "2:fails", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(app.bean(Failures.class).recovered())
                    .extracting(ConsumerRecord::value)
                    .isEqualTo(List.of("fails"));
        }
    }

    @Test
    void soIsOneThatKeepsWhatRemainsOfThePoll() {
        try (TestApplication app = startWith(OneByOneKeptInMemory.class, "1:a", "2:fails", "3:c", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c", "d");
            assertThat(app.bean(Outcomes.class).retried)
                    .as("two retries of the one that fails")
                    .hasValue(2);
        }
    }

    @Test
    void aRecordWithoutAKeyIsDeadLetteredAlone() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", ":b", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("b");
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(1);
            assertThat(app.bean(Outcomes.class).retried).hasValue(0);
        }
    }

    @Test
    void aRecordThatCannotBeConvertedIsDeadLetteredAlone() {
        try (TestApplication app = startWith(Numbers.class, "1:1", "2:two", "3:3")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "3");
            assertThat(deadLetters()).containsExactly("two");
        }
    }

    @Test
    void aKeyIsTakenFromTheRecord() {
        try (TestApplication app = startWith(KeyOfRecord.class, "1:a", "2:a", "3:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
        }
    }

    @Test
    void aKeyMayBeKnownOnlyWhenTheRecordHasBeenConverted() {
        List<String> recordAcks = List.of("spring.kafka.listener.ack-mode=record");
        try (TestApplication app = startWith(recordAcks, KeyOfPayload.class, "1:1", "2:01", "3:two", "4:3", "5:1")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "3");
            assertThat(deadLetters()).containsExactly("two");
            assertThat(app.bean(Outcomes.class).processed).hasSize(2);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(2);
        }
    }

    @Test
    void aKeyMayBeTakenFromADeserializedPayload() {
        List<String> numbers = List.of("spring.kafka.consumer.value-deserializer=" + NumberOrText.class.getName());
        try (TestApplication app = startWith(numbers, KeyOfPayload.class, "1:1", "2:2", "3:2", "4:4")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "2", "4");
            assertThat(app.jdbc().queryForObject(TRANSACTIONS.formatted("effect"), Integer.class))
                    .isOne();
        }
    }

    @Test
    void theHandlersOfAClassShareTheTransactionOfAPoll() {
        List<String> numbers = List.of(
                "spring.kafka.consumer.value-deserializer=" + NumberOrText.class.getName(),
                "idempotency.errors.max-attempts=1");
        try (TestApplication app = startWith(numbers, Handlers.class, "1:1", "a:a", "a:a", "2:2", "1:1")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("number 1", "number 2", "text a");
            assertThat(app.jdbc().queryForObject(TRANSACTIONS.formatted("effect"), Integer.class))
                    .isOne();
            app.send(this.topic, "b", "b");
            app.send(this.topic, "fails", "fails");
            app.send(this.topic, "3", "3");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all())
                    .containsExactly("number 1", "number 2", "number 3", "text a", "text b");
            assertThat(deadLetters()).containsExactly("fails");
            assertThat(app.jdbc().queryForList("select distinct consumer_id from idempotency_processed", String.class))
                    .containsExactly(this.group + "/Handlers");
        }
    }

    @Test
    void whenTheCommitFailsAllAreProcessedOnceNevertheless() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", "2:breaks once", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "breaks once", "c");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void aCommitThatFailsForGoodIsBlamedOnTheRecordThatMakesItFail() {
        try (TestApplication app = startWith(OneByOne.class, "1:a", "2:breaks", "3:fails", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "d");
            assertThat(deadLetters()).containsExactly("breaks", "fails");
        }
    }

    @Test
    void soItIsWithAnErrorHandlerOfTheApplication() {
        try (TestApplication app = startWith(OneByOneWithErrorHandler.class, "1:a", "2:breaks", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(app.bean(Failures.class).recovered())
                    .extracting(ConsumerRecord::value)
                    .isEqualTo(List.of("breaks"));
        }
    }

    @Test
    void aTransactionThatTakesTooLongForAllIsNoFaultOfOne() {
        List<String> oneAttempt = List.of("idempotency.errors.max-attempts=1");
        try (TestApplication app = startWith(oneAttempt, Slow.class, "1:a", "2:b", "3:c", "4:d", "5:e")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "d", "e");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void aFailureThatAnErrorHandlerHidesIsAFailure() {
        try (TestApplication app = startWith(FailuresAreHidden.class, "1:1", "2:0", "3:three", "4:4")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "4");
            assertThat(deadLetters()).containsExactly("0", "three");
        }
    }

    @Test
    void whatAFailedCallHasWrittenIsNotCommittedWithTheCallThatAnAspectRepeats() {
        try (TestApplication app = startWith(RetriedByAnAspect.class, "1:a")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(RetriedByAnAspect.class).calls())
                    .as("calls: the one that fails, and the redelivery")
                    .isEqualTo(2);
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void whatAFilterLeavesOutIsNotClaimed() {
        try (TestApplication app = startWith(Filtered.class, "1:a", "2:drop", "3:c", "4:drop")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(app.jdbc()
                            .queryForList(
                                    "select message_id from idempotency_processed order by message_id", String.class))
                    .containsExactly("1", "3");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void aRecordThatItsFilterFailsAtIsDeadLetteredAlone() {
        try (TestApplication app = startWith(FilteredByNumber.class, "1:1", "2:two", "3:-3", "4:4")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "4");
            assertThat(deadLetters()).containsExactly("two");
        }
    }

    @Test
    void aRecordThatCouldNotBeReadIsNoTombstoneForItsFilter() {
        List<String> picky = List.of(
                "spring.kafka.consumer.value-deserializer=" + ErrorHandlingDeserializer.class.getName(),
                "spring.kafka.consumer.properties." + ErrorHandlingDeserializer.VALUE_DESERIALIZER_CLASS + "="
                        + IntegerDeserializer.class.getName());
        try (TestApplication app = startWith(picky, WithoutTombstones.class, "1:four", "2:x", "3:more")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).hasSize(2);
            assertThat(deadLetters()).containsExactly("x");
        }
    }

    @Test
    void theInboxTellsOfEachMessageWhatBecameOfIt() {
        try (TestApplication app = startWith(Kept.class, "1:a", "2:fails", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.jdbc()
                            .queryForList(
                                    "select message_id || ' ' || status || ' ' || attempts from idempotency_inbox"
                                            + " order by message_id",
                                    String.class))
                    .containsExactly("1 processed 1", "2 failed 3", "3 processed 1");
            assertThat(app.jdbc()
                            .queryForObject(
                                    "select last_error from idempotency_inbox where message_id = '2'", String.class))
                    .contains("IllegalStateException", "fails");
        }
    }

    /** Its payloads say what happens. */
    @Import({Effects.class, Outcomes.class, BrokenCommits.class})
    static class OneByOne {

        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final Effects effects;
        private final BrokenCommits commits;
        private boolean broken;

        OneByOne(Effects effects, BrokenCommits commits) {
            this.effects = effects;
            this.commits = commits;
        }

        List<String> calls() {
            return this.calls;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            this.calls.add(IdempotencyContext.current().messageId().value() + " " + payload);
            this.effects.happen(payload);
            if (payload.startsWith("fails")) {
                throw new IllegalStateException(payload);
            }
            if (payload.equals("breaks") || (payload.equals("breaks once") && !this.broken)) {
                this.broken = true;
                this.commits.breakCommit();
            }
        }
    }

    @Import({OneByOne.class, Failures.class})
    static class OneByOneWithErrorHandler {}

    @Import(OneByOne.class)
    static class OneByOneKeptInMemory {

        @Bean
        static CommonErrorHandler keepingInMemory() {
            DefaultErrorHandler handler = new DefaultErrorHandler((record, failure) -> {}, new FixedBackOff(0, 2));
            handler.setSeekAfterError(false);
            return handler;
        }
    }

    @Import(Effects.class)
    static class Numbers {

        private final Effects effects;

        Numbers(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(int number) {
            this.effects.happen(Integer.toString(number));
        }
    }

    @Import(Effects.class)
    static class KeyOfRecord {

        private final Effects effects;

        KeyOfRecord(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#record.value()", transactionPerPoll = "true")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }

    @Import({Effects.class, Outcomes.class})
    static class KeyOfPayload {

        private final Effects effects;

        KeyOfPayload(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#payload", transactionPerPoll = "true")
        void on(long number) {
            this.effects.happen(Long.toString(number));
        }
    }

    /** A number, or a text where it is none. */
    public static class NumberOrText implements Deserializer<Object> {

        @Override
        public Object deserialize(String topic, byte[] data) {
            String text = new String(data, StandardCharsets.UTF_8);
            return Character.isDigit(text.charAt(0)) ? Long.valueOf(text) : text;
        }
    }

    @Import(Effects.class)
    @KafkaListener(topics = "${topic}", groupId = "${group}")
    @IdempotentListener(transactionPerPoll = "true")
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @KafkaHandler
        void onText(String text) {
            this.effects.happen("text " + text);
            if (text.equals("fails")) {
                throw new IllegalStateException(text);
            }
        }

        @KafkaHandler
        void onNumber(Long number) {
            this.effects.happen("number " + number);
        }
    }

    /** Five are too long for certain, and one has time to spare also where all else is slow. */
    @Import(Effects.class)
    static class Slow {

        private final Effects effects;

        Slow(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        @Transactional(timeout = 2)
        void on(String payload) {
            this.effects.pause(Duration.ofMillis(450));
            this.effects.happen(payload);
        }
    }

    @Import(Effects.class)
    static class FailuresAreHidden {

        private final Effects effects;

        FailuresAreHidden(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", errorHandler = "hiding")
        @IdempotentListener(transactionPerPoll = "true")
        void on(int number) {
            this.effects.happen(Integer.toString(number));
            if (number == 0) {
                throw new IllegalStateException("zero");
            }
        }

        @Bean
        static KafkaListenerErrorHandler hiding() {
            return (message, exception) -> "hidden";
        }
    }

    @Import(Effects.class)
    @EnableResilientMethods
    static class RetriedByAnAspect {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        RetriedByAnAspect(Effects effects) {
            this.effects = effects;
        }

        int calls() {
            return this.calls.get();
        }

        @Retryable(delay = 1)
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            this.effects.happen(payload);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the first call fails");
            }
        }
    }

    @Import(OneByOne.class)
    static class Filtered {

        @Bean
        static RecordFilterStrategy<Object, Object> dropping() {
            return record -> "drop".equals(record.value());
        }
    }

    @Import(OneByOne.class)
    static class FilteredByNumber {

        @Bean
        static RecordFilterStrategy<Object, Object> negative() {
            return record -> Integer.parseInt((String) record.value()) < 0;
        }
    }

    @Import(Effects.class)
    static class WithoutTombstones {

        private final Effects effects;

        WithoutTombstones(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(ConsumerRecord<String, Integer> record) {
            this.effects.happen(record.value().toString());
        }

        @Bean
        static RecordFilterStrategy<Object, Object> tombstones() {
            return record -> record.value() == null;
        }
    }

    @Import(Effects.class)
    static class Kept {

        private final Effects effects;

        Kept(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true", inbox = "true")
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.equals("fails")) {
                throw new IllegalStateException(payload);
            }
        }
    }
}
