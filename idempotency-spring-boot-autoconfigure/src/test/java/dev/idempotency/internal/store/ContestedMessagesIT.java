package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.dedup.JdbcStrategyFactory;
import dev.idempotency.internal.dedup.MessageIdStrategy;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.kafka.TopicLookup;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.transaction.support.TransactionTemplate;

/** Messages that two instances process at the same time, on every database. */
class ContestedMessagesIT extends StoreTest {

    private final String consumer = "consumer " + Uuid.randomUuid();

    /** Several owners of the same partitions, as after a rebalance, whose batches start with different partitions. */
    @Test
    void ownersOfTheSamePartitionsNeitherDeadlockNorProcessARecordTwice() {
        // Missing rows may make MariaDB end one of two transactions.
        ClaimStrategy first = strategy("offset");
        this.transaction.executeWithoutResult(
                status -> first.claim(List.of(message("offset", 0, 0), message("offset", 1, 0))));
        Queue<RecordCoordinates> processed = new ConcurrentLinkedQueue<>();
        CompletableFuture.allOf(IntStream.range(0, 4)
                        .mapToObj(owner -> CompletableFuture.runAsync(() -> own(owner, processed)))
                        .toArray(CompletableFuture[]::new))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
        assertThat(processed).doesNotHaveDuplicates().hasSize(120);
    }

    private void own(int owner, Queue<RecordCoordinates> processed) {
        ClaimStrategy strategy = strategy("offset");
        Random random = new Random(owner);
        int next = 1;
        while (next <= 60) {
            int from = next;
            int to = Math.min(61, from + 1 + random.nextInt(7));
            boolean fails = random.nextInt(4) == 0;
            List<InboundMessage> batch = Stream.of(owner % 2, 1 - owner % 2)
                    .flatMap(partition ->
                            IntStream.range(from, to).mapToObj(offset -> message("offset", partition, offset)))
                    .toList();
            this.transaction.executeWithoutResult(status -> {
                List<InboundMessage> accepted = strategy.claim(batch).accepted();
                if (fails) {
                    status.setRollbackOnly();
                } else {
                    accepted.forEach(message -> processed.add(message.coordinates()));
                }
            });
            next = fails ? from : to;
        }
    }

    /** A transaction must not process messages whose claims are newer than its snapshot. */
    @ParameterizedTest
    @CsvSource({"id, 4", "offset, 4", "offset, 8", "version, 4"})
    void aTransactionWithAnOlderViewDoesNotProcessWhatOthersHave(String kind, int isolation) {
        TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
        isolated.setIsolationLevel(isolation);
        ClaimStrategy strategy = strategy(kind);
        this.transaction.executeWithoutResult(status -> strategy.claim(List.of(message(kind, 0))));
        isolated.executeWithoutResult(status -> {
            this.database.jdbc().queryForList("select id from effect");
            inAnotherThread(() -> this.transaction.executeWithoutResult(other -> assertThat(
                            strategy.claim(List.of(message(kind, 1))).accepted())
                    .hasSize(1)));
            try {
                assertThat(strategy.claim(List.of(message(kind, 1))).isEmpty()).isTrue();
            } catch (StoreFailedException ex) {
                assertThat(ex).as("it is redelivered").hasMessageContaining("is redelivered");
            }
            status.setRollbackOnly();
        });
    }

    /** That includes databases where the first plain read of a transaction takes its snapshot. */
    @ParameterizedTest
    @ValueSource(strings = {"id", "offset", "version"})
    void whoeverHasGotItsLockSeesWhatOthersCommittedBefore(String kind) {
        BusinessKeyLocks locks = new BusinessKeyLocks(this.database, PATIENCE);
        ClaimStrategy strategy = strategy(kind);
        this.transaction.executeWithoutResult(status -> strategy.claim(List.of(message(kind, 0))));
        this.database.jdbc().execute("create table if not exists elsewhere (id integer primary key)");
        this.database.jdbc().update("delete from elsewhere");
        this.transaction.executeWithoutResult(status -> {
            strategy.claim(List.of(message(kind, 0), message(kind, 1), message(kind, 2)));
            inAnotherThread(() -> this.database.jdbc().update("insert into elsewhere (id) values (1)"));
            locks.lock(kind);
            assertThat(this.database.jdbc().queryForList("select id from elsewhere"))
                    .hasSize(1);
        });
    }

    private ClaimStrategy strategy(String kind) {
        JdbcStrategyFactory strategies = new JdbcStrategyFactory(
                this.database,
                PATIENCE,
                new JdbcPositionStore(this.database, PATIENCE),
                new JdbcVersionStore(this.database, PATIENCE));
        return switch (kind) {
            case "offset" -> strategies.byOffset(this.consumer, topics(), new IdempotencyEventListener() {});
            case "version" -> strategies.byVersion();
            default -> new MessageIdStrategy(new JdbcProcessedMessageStore(this.database, PATIENCE));
        };
    }

    private InboundMessage message(String kind, long offset) {
        return message(kind, 0, offset);
    }

    private InboundMessage message(String kind, int partition, long offset) {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("topic", partition, offset, null, null);
        RecordCoordinates coordinates = KafkaCoordinates.of(record);
        VersionClaim version = kind.equals("version")
                ? new VersionClaim(new MessageId(this.consumer, "a"), EntityVersion.of(offset), coordinates)
                : null;
        return new InboundMessage(
                0, record, new MessageId(this.consumer, "a" + offset), coordinates, null, version, null);
    }

    private static TopicIdTracker topics() {
        Uuid id = new Uuid(1, 2);
        TopicLookup lookup = new TopicLookup() {

            @Override
            public Uuid topicId(BrokerConnection connection, String topic) {
                return id;
            }

            @Override
            public long endOffset(BrokerConnection connection, TopicPartition partition) {
                return Long.MAX_VALUE;
            }
        };
        return new TopicIdTracker(
                lookup,
                new KafkaMessageListenerContainer<>(
                        new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "localhost:1")),
                        new ContainerProperties("topic")));
    }

    private static void inAnotherThread(Runnable work) {
        CompletableFuture.runAsync(work).orTimeout(30, TimeUnit.SECONDS).join();
    }
}
