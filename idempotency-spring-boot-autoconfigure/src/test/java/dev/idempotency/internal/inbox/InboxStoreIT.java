package dev.idempotency.internal.inbox;

import static dev.idempotency.app.Operators.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.definition.InboxRecorder.Delivered;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.kafka.ReceivedRecords;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.internal.store.StoreTest;
import dev.idempotency.job.Page;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The behavior of the inbox on every database. */
class InboxStoreIT extends StoreTest {

    private final ReceivedRecords received = new ReceivedRecords();
    private JdbcProcessedMessageStore store;
    private InboxReader reader;
    private InboxTable table;
    private JdbcInboxRecorder recorder;
    private Inbox inbox;
    private InboxCleanup cleanup;
    private final List<RuntimeException> unrecorded = new CopyOnWriteArrayList<>();
    private final List<RuntimeException> rolledBack = new CopyOnWriteArrayList<>();
    private final IdempotencyEventListener observer = new IdempotencyEventListener() {

        @Override
        public void unrecorded(String consumer, RuntimeException reason) {
            InboxStoreIT.this.unrecorded.add(reason);
        }
    };

    /** Whether concurrent writes of the same message may cause this failure, after which the message is redelivered. */
    private boolean isToBeExpected(DataAccessException failure) {
        return switch (this.server) {
            case POSTGRES -> false;
            // Claims of several messages that others forget or release lock the gaps between them.
            case MARIADB -> failure instanceof PessimisticLockingFailureException;
            // H2 looks for the row before it inserts it.
            case H2 -> failure instanceof DuplicateKeyException;
        };
    }

    private boolean isOutage(List<Delivered> messages, Throwable failure) {
        return new DatabaseFailureClassifier().classify(failure) == FailureKind.OUTAGE;
    }

    @BeforeEach
    void createInbox() {
        if (this.server == StoreServer.H2) {
            // H2 takes the lock timeout from its URL, and these tests are highly concurrent.
            String url = this.server.emptyDatabase().replace("LOCK_TIMEOUT=3000", "LOCK_TIMEOUT=30000");
            this.database = StoreServer.tablesIn(new DriverManagerDataSource(url));
            this.jdbc = this.database.jdbc();
            this.transaction = this.database.newTransaction();
        }
        this.store = new JdbcProcessedMessageStore(this.database, PATIENCE);
        this.table = new InboxTable(this.database, this.jdbc);
        this.reader = new InboxReader(this.database);
        this.recorder = recorderOf(this.store);
        JdbcInboxRecorder.Factory listeners = new JdbcInboxRecorder.Factory(
                this.store, 500_000, new DeserializerInstrumentation(), this::isOutage, this.observer);
        RawRecordProducers producers = new RawRecordProducers(() -> null, null, "replays");
        this.inbox = new JdbcInbox(this.store, listeners, producers, this.observer);
        this.cleanup = new InboxCleanup(this.database, List::of, null, Duration.ZERO, Duration.ZERO);
        this.received.beginPoll();
    }

    private JdbcInboxRecorder recorderOf(JdbcProcessedMessageStore messages) {
        return new JdbcInboxRecorder(
                messages,
                message -> StoredMessage.of(
                        message.id(), message.coordinates(), message.record(), this.received, 500_000, false),
                this::isOutage,
                this.observer);
    }

    private static MessageId id(String value) {
        return new MessageId("consumer", value);
    }

    private Delivered message(String id, byte[] payload, long offset) {
        Headers headers = new RecordHeaders().add("ce_type", "a type".getBytes(StandardCharsets.UTF_8));
        this.received.remember(headers, true, ByteBuffer.wrap(new byte[] {1, 0, -1}));
        this.received.remember(headers, false, ByteBuffer.wrap(payload));
        // JSON deserializers remove the headers that name the type.
        headers.remove("ce_type");
        ConsumerRecord<String, String> record = new ConsumerRecord<>(
                "topic", 3, offset, 0, TimestampType.CREATE_TIME, 0, 0, "key", "value", headers, Optional.empty());
        return new Delivered(id(id), new RecordCoordinates("topic", 3, offset), record);
    }

    private Delivered message(String id) {
        return message(id, id.getBytes(StandardCharsets.UTF_8), 7);
    }

    private void fail(String failure, String... ids) {
        this.recorder.failed(Stream.of(ids).map(this::message).toList(), new IllegalStateException(failure));
    }

    private void failOfAnother() {
        Delivered message = message("another's");
        MessageId id = new MessageId("another", "another's");
        this.recorder.failed(
                List.of(new Delivered(id, message.coordinates(), message.record())), new IllegalStateException());
    }

    private InboxEntry assertEntry(String id, InboxStatus status, int attempts) {
        InboxEntry entry = entry(id);
        assertThat(entry.status()).isEqualTo(status);
        assertThat(entry.attempts()).isEqualTo(attempts);
        return entry;
    }

    private static Claim claim(Delivered message) {
        return new Claim(message.id(), message.coordinates());
    }

    private void process(Delivered... messages) {
        deliver(List.of(messages), false);
    }

    private InboxEntry entry(String id) {
        InboxMessage message = this.reader.find(id(id));
        assertThat(message).as("message %s", id).isNotNull();
        return message.entry();
    }

    @Test
    void everyByteIsKept() {
        byte[] payload = new byte[70_000];
        new Random(7).nextBytes(payload);
        Instant now = Instant.now();
        process(message("1", payload, 7));
        InboxMessage found = this.reader.find(id("1"));
        assertThat(found.payload()).isEqualTo(payload);
        assertThat(found.key()).containsExactly(1, 0, -1);
        assertThat(found.headers()).singleElement().satisfies(header -> assertThat(header.key())
                .isEqualTo("ce_type"));
        InboxEntry entry = found.entry();
        assertThat(entry.status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(entry.type()).isEqualTo("a type");
        assertThat(entry.record()).isEqualTo(new RecordCoordinates("topic", 3, 7));
        assertThat(entry.payloadSize()).isEqualTo(70_000);
        assertThat(List.of(entry.receivedAt(), entry.processedAt(), entry.updatedAt()))
                .as("whatever the time zones")
                .allSatisfy(time -> assertThat(time).isBetween(now.minusSeconds(60), now.plusSeconds(60)));
    }

    @Test
    void attemptsAreCountedUntilOneSucceeds() {
        String any = "first\0time, größer als 5 \u20ac \u6f22\u5b57 \ud83d\ude00" + "x".repeat(10_000);
        fail(any, "1", "2");
        fail("second time", "1");
        assertThat(assertEntry("1", InboxStatus.FAILED, 2).lastError())
                .startsWith("java.lang.IllegalStateException: second time");
        assertThat(entry("2").lastError()).startsWith("java.lang.IllegalStateException: first?time");
        process(message("1"), message("3"));
        assertThat(assertEntry("1", InboxStatus.PROCESSED, 3).lastError()).contains("second time");
        assertEntry("3", InboxStatus.PROCESSED, 1);
    }

    @Test
    void aFailureThatIsToldWhileAnotherIsProcessingTheMessageWaitsAndDoesNotHideThat() throws Exception {
        fail("before", "1");
        duringRedelivery(true, () -> fail("late", "1"));
        assertEntry("1", InboxStatus.PROCESSED, 2);
    }

    /** Runs work while a listener's open transaction has claimed message 1, and has perhaps recorded it. */
    private void duringRedelivery(boolean written, Runnable work) throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        CompletableFuture<Void> redelivery = inAnotherThread(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(List.of(claim(message("1"))));
            if (written) {
                this.recorder.processed(List.of(message("1")));
            }
            begun.complete(null);
            mayEnd.join();
            if (!written) {
                this.recorder.processed(List.of(message("1")));
            }
        }));
        begun.get(30, TimeUnit.SECONDS);
        CompletableFuture<Void> other = inAnotherThread(work);
        // Gives the work time to reach the lock of the claim or of the row, depending on the database.
        Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
        mayEnd.complete(null);
        redelivery.join();
        other.join();
    }

    private CompletableFuture<Void> inAnotherThread(Runnable work) {
        return CompletableFuture.runAsync(work, task -> new Thread(task).start())
                .orTimeout(60, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReplayWithForgettingAndTheRedeliveryOfTheSameMessageAgree(boolean written) throws Exception {
        process(message("1"));
        this.store.forget(id("1"));
        duringRedelivery(written, () -> assertRefused(() -> this.inbox.forgetAndReplay(id("1"))));
        assertThat(entry("1").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(this.store.find(List.of(id("1")))).hasSize(1);
    }

    /** On PostgreSQL the row looks unchanged then. On other databases the replay waits for the claim, and forgets it. */
    @Test
    void aReplayWithForgettingDoesNotHideThatAnExpiredMessageIsProcessedAnew() throws Exception {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        process(message("1"));
        this.jdbc.update("delete from idempotency_processed");
        duringRedelivery(
                true, () -> assertRefused(() -> this.inbox.forgetAndReplay(id("1")), "has changed in this moment"));
    }

    @Test
    void aReplayOfAllEndsWhereThereIsNobodyToSendTo() {
        fail("before", "1", "2");
        assertThatExceptionOfType(OperatorActionException.class)
                .isThrownBy(() -> this.inbox.replayFailed("consumer"))
                .withMessageContaining("ProducerFactory")
                .satisfies(ex -> assertThat(ex.sentBefore()).isZero());
        assertThat(entry("1").replays() + entry("2").replays()).isZero();
        assertThat(entry("1").status()).isEqualTo(InboxStatus.FAILED);
    }

    /** Each thread randomly processes, fails and replays the same messages. */
    @Test
    void whateverHappensAtTheSameTimeWhatIsShownAsProcessedIsAndNoFailureIsLeftOut() throws Exception {
        CompletableFuture.allOf(IntStream.range(0, 6)
                        .mapToObj(Random::new)
                        .map(random ->
                                inAnotherThread(() -> IntStream.range(0, 60).forEach(i -> doAnything(random))))
                        .toArray(CompletableFuture[]::new))
                .join();
        assertThat(this.rolledBack).isEmpty();
        assertThat(this.unrecorded).isEmpty();
        for (int i = 0; i < 6; i++) {
            InboxMessage message = this.reader.find(id("m" + i));
            boolean processed = !this.store.find(List.of(id("m" + i))).isEmpty();
            if (message != null) {
                assertThat(message.entry().status() == InboxStatus.PROCESSED)
                        .as("m%d %s, processed: %s", i, message.entry().status(), processed)
                        .isEqualTo(processed);
            }
        }
    }

    private void doAnything(Random random) {
        List<Delivered> messages = random.ints(0, 6)
                .distinct()
                .limit(1 + random.nextInt(4))
                .mapToObj(i -> message("m" + i))
                .toList();
        try {
            switch (random.nextInt(5)) {
                case 0, 1 -> this.recorder.failed(messages, new IllegalStateException("told to fail"));
                case 2, 3 -> deliver(messages, random.nextInt(4) == 0);
                default -> this.inbox.forgetAndReplay(messages.get(0).id());
            }
        } catch (OperatorActionException ex) {
            // There is no producer, or the message is not in the inbox.
        } catch (DataAccessException ex) {
            if (!isToBeExpected(ex)) {
                this.rolledBack.add(ex);
            }
        }
    }

    /** Claims and then records messages in one transaction, like the interceptor. */
    private void deliver(List<Delivered> messages, boolean fail) {
        this.transaction.executeWithoutResult(status -> {
            Set<MessageId> claimed =
                    this.store.claim(messages.stream().map(InboxStoreIT::claim).toList());
            List<Delivered> admitted = messages.stream()
                    .filter(message -> claimed.contains(message.id()))
                    .toList();
            if (!admitted.isEmpty()) {
                this.recorder.processed(admitted);
            }
            if (fail) {
                status.setRollbackOnly();
            }
        });
    }

    @Test
    void whatWasForgottenOnPurposeIsShownAsForgottenUntilItIsProcessedAgain() {
        process(message("1"), message("2"));
        fail("x", "3");
        Instant processedAt = entry("1").processedAt();
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.forget(id("1"))).isTrue();
            status.setRollbackOnly();
        });
        assertThat(entry("1").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(this.store.forget(id("1"))).isTrue();
        assertThat(this.store.forget(id("1"))).isFalse();
        assertThat(this.store.forget(id("3"))).isFalse();
        assertThat(entry("1").status()).isEqualTo(InboxStatus.FORGOTTEN);
        assertThat(entry("1").processedAt()).isEqualTo(processedAt);
        assertThat(entry("2").status()).isEqualTo(InboxStatus.PROCESSED);
        assertThat(entry("3").status()).isEqualTo(InboxStatus.FAILED);
        assertThat(this.reader.find(InboxQuery.ALL).entries()).hasSize(3);
        assertThat(this.reader.replayable("consumer", Instant.now().plusSeconds(3600), 0, 10))
                .containsExactly(id("3"));
        process(message("1"));
        assertEntry("1", InboxStatus.PROCESSED, 2);
        this.store.forget(id("2"));
        fail("again", "2");
        assertThat(assertEntry("2", InboxStatus.FAILED, 2).processedAt()).isNull();
    }

    @Test
    void whatWasForgottenOnPurposeIsReplayedAndWhatHasExpiredIsNot() {
        process(message("1"), message("2"));
        assertRefused(() -> this.inbox.forgetAndReplay(id("1")), "Nothing was forgotten");
        assertThat(this.store.find(List.of(id("1")))).hasSize(1);
        assertEntry("1", InboxStatus.PROCESSED, 1);
        this.store.forget(id("1"));
        this.jdbc.update("delete from idempotency_processed");
        // There is no producer that could send it.
        assertRefused(() -> this.inbox.replay(id("1")), "could not be sent");
        assertThat(entry("1").replays()).isZero();
        assertThat(entry("1").status()).isEqualTo(InboxStatus.FORGOTTEN);
        assertRefused(() -> this.inbox.replay(id("2")), "has been processed");
        assertRefused(() -> this.inbox.replay(id("unknown")), "not in the inbox");
        assertThat(entry("2").replays()).isZero();
    }

    @Test
    void whatFailsAgainDuringAReplayOfAllIsNotReplayedTwiceByIt() {
        fail("x", "1");
        Instant begin = this.table.now();
        assertThat(this.reader.replayable("consumer", begin, 0, 10)).containsExactly(id("1"));
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.table.markReplayed(id("1"), InboxStatus.PROCESSED)).isFalse();
            assertThat(this.table.markReplayed(id("1"), InboxStatus.FAILED)).isTrue();
        });
        assertThat(entry("1").status()).isEqualTo(InboxStatus.REPLAYED);
        assertThat(entry("1").replays()).isOne();
        assertThat(this.reader.replayable("consumer", begin, 0, 10)).isEmpty();
        fail("again", "1");
        assertThat(this.reader.replayable("consumer", begin, 0, 10)).isEmpty();
    }

    @Test
    void anOutageIsNoFailureOfTheMessage() {
        this.recorder.failed(List.of(message("1")), new CannotGetJdbcConnectionException("nobody there"));
        assertThat(this.reader.find(id("1"))).isNull();
    }

    @Test
    void whatSomebodyIsAtIsForgottenAnotherTime() throws Exception {
        for (int i = 0; i < 3; i++) {
            process(message("" + i));
        }
        setBack("");
        this.transaction.executeWithoutResult(status -> {
            this.table.lock(List.of(id("1")));
            assertThat(CompletableFuture.supplyAsync(() -> forget(InboxStatus.PROCESSED, 10)))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(2);
        });
        assertThat(forget(InboxStatus.PROCESSED, 10)).isOne();
    }

    @Test
    void messagesAreFoundByStatusTypeAndTimeInPages() {
        List<Delivered> failed = Stream.of("0", "2", "4")
                .map(id -> message(id, new byte[1], Long.parseLong(id)))
                .toList();
        this.recorder.failed(failed, new IllegalStateException("x"));
        process(message("1"), message("3"));
        failOfAnother();
        Instant begin = Instant.parse("2026-01-01T00:00:00Z");
        for (int i = 0; i < 5; i++) {
            setTime("idempotency_inbox set updated_at", begin.plusSeconds(i), "where message_id = '%d'".formatted(i));
        }
        this.jdbc.update("update idempotency_inbox set message_type = 'order' where message_id < '3'");
        InboxQuery all = InboxQuery.ALL.withConsumer("consumer");
        Page<InboxEntry> first = this.reader.find(all.withSize(3));
        assertThat(ids(first)).containsExactly("4", "3", "2");
        assertThat(found(all.withAfter(first.next()))).containsExactly("1", "0");
        assertThat(this.reader.find(all.withSize(5)).next()).isNull();
        assertThat(found(all.withStatus(InboxStatus.FAILED))).containsExactly("4", "2", "0");
        assertThat(found(all.withStatus(InboxStatus.PROCESSED).withType("order")))
                .containsExactly("1");
        assertThat(found(all.withTime(begin.plusSeconds(2), begin.plusSeconds(4))))
                .containsExactly("3", "2");
        assertThat(this.reader.replayable("consumer", this.table.now(), 1, 10)).containsExactly(id("2"), id("4"));
        assertThat(this.reader.notReplayable("consumer")).isZero();

        setBack("where message_id <> '0'");
        first = this.reader.find(all.withSize(2));
        Page<InboxEntry> second = this.reader.find(all.withSize(2).withAfter(first.next()));
        assertThat(ids(first)).containsExactly("4", "3");
        assertThat(ids(second)).containsExactly("2", "1");
        assertThat(found(all.withAfter(second.next()))).containsExactly("0");
    }

    private List<String> found(InboxQuery query) {
        return ids(this.reader.find(query));
    }

    private static List<String> ids(Page<InboxEntry> page) {
        return page.entries().stream().map(entry -> entry.id().value()).toList();
    }

    @Test
    void theOldestAreForgottenInBatches() {
        for (int i = 0; i < 5; i++) {
            process(message("" + i));
        }
        assertThat(forget(InboxStatus.PROCESSED, 100)).isZero();
        setBack("where message_id <> '4'");
        assertThat(forget(InboxStatus.FAILED, 100)).isZero();
        assertThat(forget(InboxStatus.PROCESSED, 3)).isEqualTo(3);
        assertThat(forget(InboxStatus.PROCESSED, 3)).isOne();
        assertThat(this.reader.find(InboxQuery.ALL).entries()).singleElement().satisfies(entry -> assertThat(entry.id())
                .isEqualTo(id("4")));
    }

    /** Backdates the last change of messages by two hours. */
    private void setBack(String condition) {
        setTime("idempotency_inbox set updated_at", Instant.now().minus(Duration.ofHours(2)), condition);
    }

    private void setTime(String column, Instant time, String condition) {
        String value = this.database.dialect().timeOfSeconds();
        this.jdbc.update("update %s = %s %s".formatted(column, value, condition), EpochSeconds.toDecimal(time));
    }

    private int forget(InboxStatus status, int limit) {
        return this.cleanup
                .purge(List.of("nobody", "consumer"), status, Duration.ofHours(1), Instant.EPOCH, limit)
                .rows();
    }

    @Test
    void messagesOfOtherConsumersAreForgottenOnlyWhenTheseAreAbandoned() {
        process(message("1"), message("2"));
        fail("x", "3");
        setBack("");
        failOfAnother();
        for (InboxStatus status : InboxStatus.values()) {
            assertThat(this.cleanup
                            .purge(List.of("nobody"), status, Duration.ofHours(1), Instant.EPOCH, 10)
                            .rows())
                    .isZero();
        }
        assertThat(this.cleanup.consumersInTable()).contains("consumer");
        assertThat(this.cleanup.isAbandoned("consumer", Duration.ofHours(1))).isFalse();
        setTime("idempotency_processed set processed_at", Instant.now().minus(Duration.ofHours(2)), "");
        assertThat(this.cleanup.isAbandoned("consumer", Duration.ofHours(3))).isFalse();
        assertThat(this.cleanup.isAbandoned("consumer", Duration.ofHours(1))).isTrue();
        fail("x", "4");
        assertThat(this.cleanup.isAbandoned("consumer", Duration.ofHours(1))).isFalse();
    }

    /** Otherwise the consumer would wait for the database indefinitely. */
    @Test
    void aMessageThatTheDriverRefusesAsTooLargeIsTheMessagesFault() {
        Assumptions.assumeTrue(this.server == StoreServer.MARIADB);
        String url = this.dataSource.getJdbcUrl() + "&maxAllowedPacket=300000";
        IdempotencyDatabase picky = StoreServer.databaseOf(new DriverManagerDataSource(url));
        JdbcInboxRecorder ofPicky = recorderOf(new JdbcProcessedMessageStore(picky, PATIENCE));
        assertThatThrownBy(() -> picky.newTransaction()
                        .executeWithoutResult(
                                status -> ofPicky.processed(List.of(message("large", new byte[400_000], 0)))))
                .satisfies(failure -> assertThat(new DatabaseFailureClassifier().classify(failure))
                        .isEqualTo(FailureKind.MESSAGE));
    }

    @Test
    void theViewShowsTextAndJsonThoughOtherPayloadsAreNone() {
        process(message("1", "{\"a\": 1}".getBytes(StandardCharsets.UTF_8), 7), message("no json"), message("nothing"));
        this.jdbc.update("update idempotency_inbox set payload = null where message_id = 'nothing'");
        List<Map<String, Object>> rows =
                this.jdbc.queryForList("select * from idempotency_inbox_readable order by message_id");
        assertThat(rows).extracting(row -> row.get("payload_text")).containsExactly("{\"a\": 1}", "no json", null);
        if (this.server != StoreServer.H2) {
            assertThat(rows)
                    .extracting(row -> String.valueOf(row.get("payload_json")))
                    .containsExactly("{\"a\": 1}", "null", "null");
        }
    }
}
