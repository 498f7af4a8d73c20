package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.idempotency.test.TestedApplication.Effects;
import dev.idempotency.test.TestedApplication.Order;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

/** Listeners with a database but without a broker. */
@SpringBootTest(
        classes = {TestedApplication.class, OddContainers.class},
        properties = {
            "spring.kafka.bootstrap-servers=localhost:1",
            "spring.kafka.producer.value-serializer=org.springframework.kafka.support.serializer.JacksonJsonSerializer",
            "idempotency.errors.initial-interval=10ms",
            "idempotency.errors.max-attempts=4",
            "idempotency.checks.relaxed=unstable-key"
        })
class IdempotencyTesterIT {

    @Autowired
    private IdempotencyTester tester;

    @Autowired
    private Effects effects;

    @Autowired
    private TestedApplication.Listeners listeners;

    @Autowired
    private KafkaListenerEndpointRegistry containers;

    private final String id = UUID.randomUUID().toString();
    private final String other = this.id + "-b";

    private static Stream<Arguments> deliveries() {
        return Stream.of(
                arguments("ledger", "tested", delivery(TestDelivery::twice), 1),
                arguments("ledger", "tested", delivery(delivery -> delivery.concurrently(10)), 9),
                arguments("ledger", "tested", delivery(TestDelivery::withCrashBeforeOffsetCommit), 1),
                arguments("ledger", "tested", delivery(TestDelivery::thenRepublished), 1),
                arguments("poll", "tested", delivery(TestDelivery::withCrashBeforeOffsetCommit), 1),
                arguments("handlers", "odd-handled-a", delivery(TestDelivery::twice), 1));
    }

    private static Function<TestDelivery, TestedConsumer> delivery(Function<TestDelivery, TestedConsumer> how) {
        return how;
    }

    @ParameterizedTest
    @MethodSource("deliveries")
    void aRecordDeliveredSeveralTimesIsProcessedOnce(
            String consumer, String topic, Function<TestDelivery, TestedConsumer> delivery, int dropped) {
        assertThat(this.containers.getAllListenerContainers())
                .as("without a broker")
                .isNotEmpty()
                .noneMatch(MessageListenerContainer::isRunning);
        delivery.apply(deliver(consumer, record(topic, 0, this.id)));

        assertThat(this.tester.consumer(consumer))
                .hasProcessed(this.id)
                .hasDropped(dropped)
                .hasDropped(this.id, dropped)
                .hasDeadLettered(0);
        assertThat(this.effects.of(consumer)).containsOnlyOnce(this.id);
    }

    @Test
    void theBrokerIsNotAskedAboutTopicsUnlessTheApplicationSaysSo(@Autowired Environment environment) {
        assertThat(environment.getProperty("idempotency.checks.broker-timeout")).isEqualTo("0s");
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("idempotency-broker-checks");
    }

    @Test
    void aConsumerRecordAndATombstoneAreDeliveredAsTheyAre() {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("tested", 3, 17, "key", null);
        record.headers().add("message-id", bytes(this.id));

        assertThat(deliver("ledger", record).twice()).hasProcessed(this.id).hasDropped(1);
        assertThat(this.effects.of("ledger")).contains("tombstone");
    }

    @ParameterizedTest
    @CsvSource({"ledger, tested", "batch, tested", "poll, tested", "manual, tested-odd", "offsets, tested-odd"})
    void whatWasRolledBackAfterTheWorkIsRedeliveredAndDoneOnce(String consumer, String topic) {
        TestedConsumer tested = deliver(consumer, record(topic, 0, this.id), record(topic, 0, this.other))
                .withRollbackAfterWork();

        assertThat(tested).hasDropped(0).hasDeadLettered(0);
        assertThat(tested.processed()).hasSize(2).doesNotHaveDuplicates();
        assertThat(this.effects.of(consumer)).containsOnlyOnce(this.id, this.other);
    }

    @ParameterizedTest
    @CsvSource({"charges, charge", "charges, mail", "charged-batch, charge", "charged-batch, mail"})
    void aStepIsNotRepeatedAfterACrash(String consumer, String step) {
        TestedConsumer tested = deliver(consumer, record("tested", 0, this.id), record("tested", 0, this.other))
                .crashingAfterStep(step);

        assertThat(tested).hasDeadLettered(0);
        assertThat(tested.processed()).hasSize(2).doesNotHaveDuplicates();
        assertThat(this.effects.of(consumer)).containsOnlyOnce(this.id, this.other);
        assertThat(this.listeners.calls())
                .containsOnlyOnce(
                        consumer + " charges " + this.id,
                        consumer + " charges " + this.other,
                        consumer + " mails " + this.id,
                        consumer + " mails " + this.other);
    }

    @Test
    void aCrashThatDoesNotHappenIsNoSuccess() {
        TestDelivery delivery = deliver("charges", payment(this.id));
        assertFails(() -> delivery.crashingAfterStep("other"), "has not come to the end of a step 'other'");
    }

    /** Asserts that a call fails with an {@code AssertionError}. */
    private static void assertFails(ThrowingCallable call, String... messages) {
        assertThatExceptionOfType(AssertionError.class).isThrownBy(call).withMessageContainingAll(messages);
    }

    private static void assertRefused(ThrowingCallable call, String... messages) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageContainingAll(messages);
    }

    @Test
    void aRollbackThatDoesNotHappenIsNoSuccess() {
        TestDelivery delivery = deliver("ledger", payment(this.id));
        delivery.once();

        assertFails(delivery::withRollbackAfterWork, "consumer 'ledger' was not called with any of the records");
        assertThatIllegalStateException()
                .isThrownBy(deliver("unprotected", payment(this.id))::withRollbackAfterWork)
                .withMessageContaining("without @IdempotentListener");
    }

    @Test
    void aContainerThatStopsFailsTheDelivery() {
        TestDelivery delivery = deliver("stopping", record("odd-stopping", 0, this.id));
        assertFails(delivery::once, "The container of consumer 'stopping' has stopped");
    }

    @Test
    void outcomesOfOtherTestsAreForgottenAndTheNumberOfDroppedDeliveriesIsChecked() {
        TestedConsumer ledger = this.tester.consumer("ledger");
        assertThat(ledger).hasProcessedNothing().hasDropped(0);
        ledger.deliver(payment(this.id)).once();

        assertFails(() -> assertThat(ledger).hasDropped(1), "to have 1 dropped deliveries, but there are 0", this.id);
        assertFails(
                () -> assertThat(ledger).hasProcessed("another"), "processed message 'another' once, but it did not");
        assertRefused(() -> assertThat(ledger).hasProcessed(), "hasProcessedNothing()");
    }

    @Test
    void aPayloadIsWrittenByTheProducersSerializerAndItsKeyIsReadFromWhatTheListenerGets() {
        ProducerRecord<String, Order> order = new ProducerRecord<>("tested-orders", new Order(this.id));

        assertThat(deliver("orders", order).thenRepublished())
                .hasProcessed(this.id)
                .hasDropped(1);
        assertThat(this.effects.of("orders")).containsOnlyOnce(this.id);
    }

    @Test
    void whatIsSentStandsBehindWhatWasGivenItsPlace() {
        ConsumerRecord<String, String> placed = new ConsumerRecord<>("tested-odd", 5, 41, "key", this.id);
        deliver("offsets", placed).once();
        deliver("offsets", record("tested-odd", 5, this.other)).once();

        assertThat(this.tester.consumer("offsets")).hasDropped(0);
        assertThat(this.effects.of("offsets")).contains(this.id, this.other);
    }

    @Test
    void recordsThatStandAtTheSamePlaceAreRefusedRatherThanLost() {
        ConsumerRecord<String, String> first = new ConsumerRecord<>("tested", 0, 0, "key", this.id);
        ConsumerRecord<String, String> second = new ConsumerRecord<>("tested", 0, 0, "key", this.other);

        assertRefused(() -> deliver("ledger", first, second), "tested-0@0", "its own offset");
    }

    @Test
    void recordsDeliveredTogetherAreOneBatch() {
        assertThat(deliver("batch", payment(this.id), payment(this.other), payment(this.id))
                        .twice())
                .hasProcessed(this.id, this.other)
                .hasDropped(4);
        assertThat(this.effects.of("batches")).contains("[%s, %s]".formatted(this.id, this.other));
    }

    @Test
    void aMessageThatFailsForGoodIsDeadLetteredAndTheLetterIsCapturedAndNotSent() {
        String poison = "poison-" + this.id;

        TestedConsumer failing = deliver("failing", odd(poison)).once();

        assertThat(failing).hasProcessedNothing().hasFailed(4).hasDeadLettered(1);
        // The error names the reason of the listener's failure.
        assertFails(() -> assertThat(failing).hasProcessed(poison), "IllegalArgumentException", "dead letters: 1");
        assertThat(failing.deadLetters()).singleElement().satisfies(letter -> {
            assertThat(letter.topic()).isEqualTo("tested-odd-dlt");
            assertThat((byte[]) letter.value()).isEqualTo(bytes(poison));
            assertThat(letter.headers().lastHeader(KafkaHeaders.DLT_EXCEPTION_FQCN))
                    .isNotNull();
        });
        assertThat(this.effects.of("failing")).doesNotContain(poison);
    }

    @Test
    void filterInterceptorAndManualAcknowledgmentAreThoseOfTheContainer() {
        String unwanted = "unwanted-" + this.id;

        assertThat(deliver("manual", odd(unwanted), odd(this.id)).twice())
                .hasProcessed(this.id)
                .hasDropped(1);
        assertThat(this.effects.of("manual")).containsOnlyOnce(this.id).doesNotContain(unwanted);
        assertThat(this.effects.of("intercepted")).filteredOn(unwanted::equals).hasSize(2);
    }

    @Test
    void aListenerWhoseKeyIsAnotherOneWithEachDeliveryIsNotIdempotent() {
        TestDelivery delivery = deliver("random", odd(this.id));

        assertFails(
                delivery::twice,
                "consumer 'random' is not idempotent: it has processed the record tested-odd-0@",
                "2 times");
        assertFails(() -> delivery.concurrently(3), "is not idempotent");
        assertFails(delivery::withCrashBeforeOffsetCommit, "is not idempotent");
    }

    @Test
    void aListenerThatKnowsRecordsByTheirPlaceSeesARewindAndNoRepublication() {
        TestDelivery delivery = deliver("offsets", odd(this.id));

        assertThat(delivery.twice()).hasDropped(1);
        assertThat(delivery.concurrently(3)).hasDropped(4);
        assertFails(deliver("offsets", odd(this.id))::thenRepublished, "is not idempotent");
    }

    @Test
    void aKeyThatChangesWithTheTimeIsFoundAndWhatCannotBeReadIsDeadLettered() {
        TestDelivery timed = deliver("timestamps", record("odd-timestamps", 0, this.id));
        assertFails(timed::thenRepublished, "consumer 'timestamps' is not idempotent");
        assertThat(deliver("numbers", odd("no number")).once())
                .hasProcessedNothing()
                .hasDeadLettered(1);
    }

    @Test
    void aListenerWithoutProtectionProcessesEveryDeliveryAndNoAssertionHoldsForIt() {
        TestedConsumer unprotected = deliver("unprotected", payment(this.id)).twice();

        assertThat(this.effects.of("unprotected")).filteredOn(this.id::equals).hasSize(2);
        assertFails(() -> assertThat(unprotected).hasProcessed(this.id), "is a listener without @IdempotentListener");
    }

    @Test
    void aConsumerOrATopicThatIsNotThereIsRefusedWithThoseThatAre() {
        assertRefused(() -> this.tester.consumer("leger"), "There is no consumer 'leger'", "ledger", "unprotected");
        assertRefused(() -> deliver("ledger", odd(this.id)), "No container of consumer 'ledger' reads [tested-odd]");
    }

    @Test
    void aRecordIsDeliveredToTheContainerThatReadsItsPartition() {
        TestedConsumer assigned = this.tester.consumer("assigned");
        assigned.deliver(record("odd-assigned", 1, this.id)).twice();
        assigned.deliver(record("odd-assigned", 2, this.other)).twice();

        assertThat(assigned).hasProcessed(this.id, this.other).hasDropped(2);
        assertThat(this.effects.of("assigned")).containsOnlyOnce(this.other);
        assertRefused(
                () -> assigned.deliver(record("odd-assigned", 0, this.id)),
                "No container of consumer 'assigned' reads [odd-assigned-0]",
                "[odd-assigned-1]");
    }

    @Test
    void aDeliveryOfWhichNothingReachesTheListenerIsNoSuccess() {
        TestedConsumer late = this.tester.consumer("late");

        assertFails(
                late.deliver(record("odd-late", 0, this.id))::twice,
                "consumer 'late' was given none of the records of [odd-late-0]",
                "initialOffset");
        ConsumerRecord<String, String> record = new ConsumerRecord<>("odd-late", 0, 100, "key", this.id);
        record.headers().add("message-id", bytes(this.id));
        assertThat(late.deliver(record).twice()).hasProcessed(this.id).hasDropped(1);
    }

    @Test
    void whatWentToARetryTopicCanBeDeliveredOnAndIsTheSameMessage() {
        TestedConsumer retried =
                deliver("retried", record("odd-retried", 0, this.id)).once();
        assertThat(retried).hasProcessedNothing().hasSentToRetryTopic(1).hasDeadLettered(0);

        assertThat(retried.deliver(retried.retryTopicRecords().get(0)).twice())
                .hasProcessed(this.id)
                .hasDropped(1);
        assertThat(this.effects.of("retried")).containsOnlyOnce(this.id);
    }

    @Test
    void whatIsOlderIsStale() {
        assertThat(deliver("versions", version(1), version(3), version(2)).twice())
                .hasDroppedStale(3)
                .hasDropped(1);
        assertThat(this.effects.of("versions")).containsOnlyOnce(this.id + " 1", this.id + " 3");
    }

    private ProducerRecord<String, String> version(int number) {
        return new ProducerRecord<>("odd-versions", 0, this.id, String.valueOf(number));
    }

    private TestDelivery deliver(String consumer, ProducerRecord<?, ?>... records) {
        return this.tester.consumer(consumer).deliver(records);
    }

    private TestDelivery deliver(String consumer, ConsumerRecord<?, ?>... records) {
        return this.tester.consumer(consumer).deliver(records);
    }

    private static ProducerRecord<String, String> record(String topic, int partition, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, partition, null, id);
        record.headers().add("message-id", bytes(id));
        return record;
    }

    private static ProducerRecord<String, String> payment(String id) {
        return record("tested", 0, id);
    }

    private static ProducerRecord<String, String> odd(String id) {
        return record("tested-odd", 0, id);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
