package dev.idempotency.internal.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.DuplicateKind;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.StoredVersion;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.internal.store.StoreTest;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The guarantees of {@link VersionStrategy}, on real databases. */
class VersionStrategyIT extends StoreTest {

    private static final String CONSUMER = "consumer";

    private JdbcVersionStore versions;
    ClaimStrategy strategy;

    @BeforeEach
    void prepare() {
        this.versions = new JdbcVersionStore(this.database, PATIENCE);
        this.strategy = new VersionStrategy(this.versions);
        this.jdbc.execute(
                "create table if not exists version_effect (entity varchar(20), version bigint, nanos bigint not null)");
    }

    private static MessageId entity(String key) {
        return MessageId.of(CONSUMER, key);
    }

    private static InboundMessage message(int position, long offset, String key, EntityVersion version) {
        ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 3, offset, null, null);
        VersionClaim claim = new VersionClaim(entity(key), version, KafkaCoordinates.of(record));
        return new InboundMessage(position, record, claim.messageId(), claim.coordinates(), null, claim, null);
    }

    /** A message at an offset. */
    static InboundMessage at(long offset, String key, long version) {
        return message((int) offset, offset, key, EntityVersion.of(version));
    }

    ClaimResult claim(InboundMessage... messages) {
        return this.transaction.execute(status -> this.strategy.claim(Arrays.asList(messages)));
    }

    private boolean enters(String key, EntityVersion version) {
        return !claim(message(0, 0, key, version)).isEmpty();
    }

    private static List<Integer> positions(ClaimResult result) {
        return result.accepted().stream().map(InboundMessage::position).toList();
    }

    private EntityVersion stored(String key) {
        return this.versions.find(List.of(entity(key))).get(entity(key)).version();
    }

    @Test
    void whatIsNewerEntersTheSameAgainIsADuplicateAndWhatIsOlderIsStale() {
        assertThat(positions(claim(at(1, "a", 5)))).containsExactly(1);
        assertThat(positions(claim(at(2, "a", 7)))).containsExactly(2);
        ClaimResult redelivered = claim(at(2, "a", 7));
        assertThat(redelivered.isEmpty()).isTrue();
        assertThat(redelivered.duplicates()).singleElement().satisfies(duplicate -> {
            assertThat(duplicate.id()).isEqualTo(new MessageId(CONSUMER, "a@7"));
            assertThat(duplicate.kind()).isEqualTo(DuplicateKind.REDELIVERY);
            assertThat(duplicate.processedAt()).isNotNull();
            assertThat(duplicate.age()).isNotNull();
        });
        assertThat(claim(at(3, "a", 7)).duplicates())
                .extracting(Duplicate::kind)
                .containsExactly(DuplicateKind.REPUBLICATION);
        ClaimResult late = claim(at(4, "a", 6));
        assertThat(late.isEmpty()).isTrue();
        assertThat(late.duplicates()).isEmpty();
        assertThat(late.stale()).singleElement().satisfies(stale -> {
            assertThat(stale.id()).isEqualTo(new MessageId(CONSUMER, "a@6"));
            assertThat(stale.coordinates()).isEqualTo(new RecordCoordinates("topic", 3, 4));
            assertThat(stale.version()).isEqualTo("6");
            assertThat(stale.newest()).isEqualTo("7");
            assertThat(stale.processedAt()).isNotNull();
        });
        assertThat(positions(claim(at(5, "b", 1)))).containsExactly(5);
        StoredVersion newest =
                this.versions.find(List.of(entity("a"), entity("c"))).get(entity("a"));
        assertThat(newest.version()).isEqualTo(EntityVersion.of(7));
        assertThat(newest.coordinates()).isEqualTo(new RecordCoordinates("topic", 3, 2));
        assertThat(newest.processedAt())
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
    }

    @Test
    void ofSeveralVersionsThoseEnterThatAreNewerThanAllBeforeThem() {
        claim(at(100, "a", 3), at(101, "c", 9));
        ClaimResult result = claim(
                at(0, "b", 2),
                at(1, "a", 2),
                at(100, "a", 3),
                at(3, "a", 3),
                at(4, "a", 4),
                at(5, "b", 1),
                at(6, "a", 6),
                at(7, "a", 5),
                at(6, "a", 6),
                at(9, "c", 8),
                at(10, "b", 7));
        assertThat(positions(result)).containsExactly(0, 4, 6, 10);
        assertThat(result.stale())
                .extracting(stale -> stale.id().value() + " after " + stale.newest())
                .containsExactly("a@2 after 3", "b@1 after 2", "a@5 after 6", "c@8 after 9");
        assertThat(result.duplicates())
                .extracting(duplicate -> duplicate.id().value() + " " + duplicate.kind())
                .containsExactly("a@3 REDELIVERY", "a@3 REPUBLICATION", "a@6 REDELIVERY");
        assertThat(result.duplicates().get(0).processedAt()).isNotNull();
        assertThat(List.of(stored("a"), stored("b"), stored("c")))
                .containsExactly(EntityVersion.of(6), EntityVersion.of(7), EntityVersion.of(9));
    }

    @Test
    void aMessageWithoutAnEntityEntersUnclaimed() {
        ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 3, 1, null, null);
        InboundMessage without = new InboundMessage(1, record, null, KafkaCoordinates.of(record), null, null, null);
        assertThat(positions(claim(at(0, "a", 1), without, at(2, "a", 1)))).containsExactly(0, 1);
        assertThat(positions(claim(without))).containsExactly(1);
    }

    @Test
    void versionsAreComparedExactly() {
        Instant time = Instant.parse("2026-11-17T09:30:00.123456789Z");
        assertThat(enters("time", EntityVersion.of(time))).isTrue();
        assertThat(enters("time", EntityVersion.of(time))).isFalse();
        assertThat(enters("time", EntityVersion.of(time.plusNanos(1)))).isTrue();
        assertThat(stored("time").toString()).isEqualTo("2026-11-17T09:30:00.123456790Z");
        assertThat(enters("era", EntityVersion.of(Instant.MIN))).isTrue();
        assertThat(enters("era", EntityVersion.of(Instant.EPOCH.minusNanos(1)))).isTrue();
        assertThat(stored("era").toString()).isEqualTo("1969-12-31T23:59:59.999999999Z");
        assertThat(enters("era", EntityVersion.of(Instant.MAX))).isTrue();
        BigInteger largest = BigInteger.TEN.pow(EntityVersion.DIGITS).subtract(BigInteger.ONE);
        assertThat(enters("number", EntityVersion.of(largest.negate()))).isTrue();
        assertThat(enters("number", EntityVersion.of(Long.MAX_VALUE - 1))).isTrue();
        assertThat(enters("number", EntityVersion.of(Long.MAX_VALUE))).isTrue();
        assertThat(enters("number", EntityVersion.of(Long.MAX_VALUE - 1))).isFalse();
        assertThat(enters("number", EntityVersion.of(largest))).isTrue();
        assertThat(stored("number")).isEqualTo(EntityVersion.of(largest));
    }

    @Test
    void aNumberAndATimeOfOneEntityAreRefusedByTheRecordThatDoesNotFit() {
        claim(at(1, "a", 3));
        InboundMessage odd = message(0, 17, "a", EntityVersion.of(Instant.now()));
        assertThatExceptionOfType(InvalidMessageKeyException.class)
                .isThrownBy(() -> claim(odd))
                .withMessageContaining("topic-3@17")
                .withMessageContaining("entity consumer:a, which had version 3 before");
        assertThatExceptionOfType(InvalidMessageKeyException.class)
                .isThrownBy(() -> claim(at(2, "b", 1), odd, at(4, "a", 4)))
                .withMessageContaining("topic-3@");
        assertThat(stored("a")).isEqualTo(EntityVersion.of(3));
        assertThat(this.versions.find(List.of(entity("b")))).isEmpty();
    }

    @Test
    void keysThatDifferInAnythingAreDifferentEntities() {
        assertThat(enters("a", EntityVersion.of(5))).isTrue();
        for (String other : List.of("a ", "A", "\uD83D\uDE00", "a\u0301", "a@1", "sha256:a")) {
            assertThat(enters(other, EntityVersion.of(1))).isTrue();
            assertThat(enters(other, EntityVersion.of(1))).isFalse();
        }
        String one = "x".repeat(5000) + "1";
        String two = "x".repeat(5000) + "2";
        assertThat(enters(one, EntityVersion.of(5))).isTrue();
        assertThat(enters(two, EntityVersion.of(1))).isTrue();
        assertThat(enters(one, EntityVersion.of(4))).isFalse();
        assertThat(Stream.of(at(1, one, 1), at(1, two, 1), at(1, "y".repeat(255), 1), at(1, "y".repeat(255), 2))
                        .map(InboundMessage::id))
                .doesNotHaveDuplicates();
    }

    /** Claims random versions in several threads, with rollbacks: applied versions increase and end with the highest. */
    @Test
    void overlappingBatchesNeitherDeadlockNorLetAnOlderVersionInAfterANewerOne() throws Exception {
        this.jdbc.update("delete from version_effect");
        Map<String, Long> greatest = new ConcurrentHashMap<>();
        for (String key : List.of("0", "1", "2", "3", "4", "5")) {
            // In MariaDB, transactions that wait for a new row deadlock when it is rolled back, in any order.
            claim(at(0, key, 0));
        }
        CompletableFuture.allOf(IntStream.range(0, 6)
                        .mapToObj(thread -> CompletableFuture.runAsync(() -> apply(new Random(thread), greatest)))
                        .toArray(CompletableFuture[]::new))
                .get(60, TimeUnit.SECONDS);
        greatest.forEach((key, version) -> {
            List<Long> applied = this.jdbc.queryForList(
                    "select version from version_effect where entity = ? order by nanos", Long.class, key);
            assertThat(applied).isSorted().doesNotHaveDuplicates().endsWith(version);
            assertThat(stored(key)).isEqualTo(EntityVersion.of(version));
        });
    }

    private void apply(Random random, Map<String, Long> greatest) {
        for (int batch = 0; batch < 20; batch++) {
            int highest = 50 + 10 * batch;
            List<InboundMessage> messages = IntStream.range(0, 8)
                    .mapToObj(i -> at(i, String.valueOf(random.nextInt(6)), 1 + random.nextInt(highest)))
                    .toList();
            boolean undone = random.nextInt(4) == 0;
            this.transaction.executeWithoutResult(status -> {
                this.strategy
                        .claim(messages)
                        .accepted()
                        .forEach(accepted -> this.jdbc.update(
                                "insert into version_effect values (?, ?, ?)",
                                accepted.version().entity().value(),
                                accepted.version().version().value(),
                                System.nanoTime()));
                if (undone) {
                    status.setRollbackOnly();
                }
            });
            if (!undone) {
                messages.stream()
                        .map(InboundMessage::version)
                        .forEach(claim -> greatest.merge(
                                claim.entity().value(), claim.version().value().longValue(), Math::max));
            }
        }
    }

    /** Rows that the consumer wrote to the table of processed messages before it changed its strategy must not matter. */
    @Test
    void entitiesAreForgottenByTheirLastChangeAndRememberedThroughAPause() {
        String time = this.database.dialect().timeOfSeconds();
        this.jdbc.update(
                "insert into idempotency_processed (consumer_id, message_id, processed_at, record_topic,"
                        + " record_partition, record_offset) values (?, 'before', " + time + ", 'topic', 0, 0)",
                CONSUMER,
                Instant.now().minus(Duration.ofHours(1)).getEpochSecond());
        claim(at(1, "31", 1), at(2, "32", 1), at(3, "34", 1), at(4, "changed", 1));
        for (int hours : new int[] {31, 32, 34}) {
            this.jdbc.update(
                    "update idempotency_version set processed_at = " + time + " where message_id = ?",
                    Instant.now().minus(Duration.ofHours(hours)).getEpochSecond(),
                    String.valueOf(hours));
        }
        claim(at(5, "changed", 2));
        ProcessedMessagePurge purge = ProcessedMessagePurge.ofOwnActivity(this.database, this.database.versionTable());
        assertThat(purge.consumers()).containsExactly(CONSUMER);
        assertThat(purge.purgeExpired(CONSUMER, Duration.ofHours(2), ProcessedMessagePurge.BEGINNING, 100)
                        .rows())
                .isOne();
        this.jdbc.update("delete from idempotency_processed");
        assertThat(positions(claim(at(6, "31", 1)))).isEmpty();
        assertThat(positions(claim(at(7, "34", 1)))).containsExactly(7);
    }

    @Test
    void afterOneThatIsNotNewerTheNextOneWritesNothingOnPostgres() {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        claim(at(1, "a", 5));
        assertThat(claim(at(1, "a", 5)).duplicates()).hasSize(1);
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.strategy.claim(List.of(at(2, "a", 4))).stale()).hasSize(1);
            assertThat(this.jdbc.queryForObject("select txid_current_if_assigned()", Long.class))
                    .isNull();
        });
        assertThat(claim(at(3, "a", 6)).accepted()).hasSize(1);
    }
}
