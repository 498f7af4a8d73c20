package dev.idempotency.internal.store;

import static dev.idempotency.internal.store.RingServer.claims;
import static dev.idempotency.internal.store.RingServer.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import dev.idempotency.MessageId;
import dev.idempotency.StoreFailedException;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.store.StoreStatistics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.dao.DataAccessException;

/** Claims in a ring of tables: same id, same table. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RingStoreIT {

    private static final Instant NOW = Instant.now();

    private final RingServer server = new RingServer();
    private final JdbcProcessedMessageStore store = this.server.start(RetentionMode.RING);

    @BeforeEach
    void emptyTables() {
        this.server.jdbc.execute("truncate idempotency_processed");
    }

    @AfterAll
    void close() {
        this.server.close();
    }

    /** Ids for each of the eight slots, and two without a time. */
    private static List<String> idsOfAllTables() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ids.add(id(NOW.minus(RingServer.WIDTH.multipliedBy(i))));
        }
        ids.add("order-4711");
        ids.add("order-4712");
        return ids;
    }

    private Set<MessageId> claim(String... ids) {
        return this.server.claim(this.store, "billing", ids);
    }

    private String[] slotCounts() {
        return IntStream.range(0, 8)
                .mapToObj(slot -> "" + this.server.count("only idempotency_processed_" + slot))
                .toArray(String[]::new);
    }

    @Test
    void aBatchIsClaimedInEverySlotAndFoundEverywhere() {
        List<String> ids = idsOfAllTables();
        Set<MessageId> claimed = claim(ids.toArray(String[]::new));
        assertThat(claimed).hasSize(10);
        assertThat(slotCounts()).containsOnly("1");
        assertThat(this.server.count("only idempotency_processed")).isEqualTo(2);
        assertThat(this.store.find(claimed)).hasSize(10);
        assertThat(this.store.hasProcessed("billing")).isTrue();
        assertThat(this.store.hasProcessed("shipping")).isFalse();
        assertThat(this.store.firstRecords("billing")).containsExactly(RingServer.SOMEWHERE);
        assertThat(this.server.claim(this.store, "shipping", ids.toArray(String[]::new)))
                .hasSize(10);
    }

    @Test
    void rowsOfAllSlotsAreCounted() {
        claim(idsOfAllTables().toArray(String[]::new));
        // A connection may report its inserts after an analysis; they count twice until the next one.
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            this.server.jdbc.execute("analyze");
            StoreStatistics statistics = this.store.statistics(List.of("billing"));
            assertThat(statistics.rows()).isEqualTo(10);
            assertThat(statistics.slots()).hasSize(8).allSatisfy(slot -> {
                assertThat(slot.rows()).isEqualTo(1);
                assertThat(slot.age()).isBetween(Duration.ZERO, Duration.ofMinutes(5));
            });
        });
        this.server.jdbc.execute("truncate idempotency_processed_5");
        assertThat(this.store.statistics(List.of()).slots().get(5).age()).isNull();
    }

    @Test
    void theSecondWaitsForTheFirstWhateverTheOrderOfTheirBatches() {
        List<String> ids = idsOfAllTables();
        List<String> reversed = new ArrayList<>(ids);
        Collections.reverse(reversed);
        CompletableFuture<Set<MessageId>> second = this.server.transaction.execute(status -> {
            assertThat(this.store.claim(claims("billing", ids.toArray(String[]::new))))
                    .hasSize(10);
            CompletableFuture<Set<MessageId>> other =
                    CompletableFuture.supplyAsync(() -> claim(reversed.toArray(String[]::new)));
            this.server.awaitWaiting();
            return other;
        });
        assertThat(second.join()).isEmpty();
    }

    /** The instance was started before the tables became a ring. */
    @Test
    void anInstanceWithoutTheRingCannotClaimIdsThatCarryTheirTime() {
        JdbcProcessedMessageStore other =
                new JdbcProcessedMessageStore(StoreServer.databaseOf(this.server.dataSource), Duration.ofSeconds(30));
        String id = id(NOW);
        claim(id);
        assertThatException()
                .isThrownBy(() ->
                        StoreExceptionTranslator.attempt(() -> "claim", () -> this.server.claim(other, "billing", id)))
                .isInstanceOf(StoreFailedException.class)
                .withStackTraceContaining("belongs into a slot of the ring")
                .withStackTraceContaining("idempotency.retention-mode=ring");
        assertThat(this.server.claim(other, "billing", "order-4711")).hasSize(1);
    }

    /** The control row determines the table of an id. */
    @Test
    void theControlRowStaysAsItIs() {
        for (String change : List.of(
                "update idempotency_ring set slots = 7",
                "update idempotency_ring set width_ms = width_ms * 2",
                "update idempotency_ring set state = 'both'",
                "update idempotency_ring set state = 'drain'",
                "delete from idempotency_ring",
                "insert into idempotency_ring select * from idempotency_ring")) {
            assertThatException()
                    .as(change)
                    .isThrownBy(() -> this.server.jdbc.update(change))
                    .isInstanceOf(DataAccessException.class);
        }
    }

    /** The trigger of the script and the choice of the slot agree on which ids contain a time. */
    @Test
    void theDatabaseRefusesExactlyTheIdsThatHaveASlot() {
        Map<String, Boolean> ids = Map.of(
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", true,
                "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", true,
                "01arz3ndektsv4rrffq69g5fav", true,
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n", false,
                "047f22e2-79b0-7cc3-98c4-dc0c0c07398f", false,
                "01ARZ3NDEKTSV4RRFFQ69G5FAU", false,
                "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", false);
        ids.forEach((id, slot) -> {
            assertThat(claim(id)).as(id).hasSize(1);
            assertThat(this.server.count("only idempotency_processed where message_id = '" + id + "'"))
                    .as(id)
                    .isEqualTo(slot ? 0 : 1);
        });
    }
}
