package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.internal.database.PositionClaim;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The guarantees for positions, on the real database of every dialect. */
class PositionStoreIT extends StoreTest {

    private static final String TOPIC = "Bestellungen.日本";

    private JdbcPositionStore store;

    @BeforeEach
    void prepare() {
        this.store = new JdbcPositionStore(this.database, PATIENCE);
    }

    static PositionClaim claim(int partition, long from, long to) {
        return new PositionClaim("consumer", TOPIC, partition, "topic-id", from, to);
    }

    Map<PositionClaim, Long> move(PositionClaim... claims) {
        return this.transaction.execute(status -> this.store.move(List.of(claims)));
    }

    @Test
    void aPositionIsMadeAndMovedForwardAndNeverBack() {
        Instant before = Instant.now().minusSeconds(60);
        assertThat(move(claim(0, 5, 8))).containsEntry(claim(0, 5, 8), 5L);
        assertThat(move(claim(0, 8, 9))).containsOnlyKeys(claim(0, 8, 9));
        assertThat(move(claim(0, 12, 20))).containsEntry(claim(0, 12, 20), 9L);
        assertThat(move(claim(0, 18, 22))).containsEntry(claim(0, 18, 22), 20L);
        assertThat(move(claim(0, 21, 22))).isEmpty();
        assertThat(move(claim(0, 0, 22))).isEmpty();
        assertThat(move(claim(0, 21, 23))).containsEntry(claim(0, 21, 23), 22L);
        assertThat(this.store.positionsOf("consumer")).singleElement().satisfies(position -> {
            assertThat(position.topic()).isEqualTo(TOPIC);
            assertThat(position.nextOffset()).isEqualTo(23);
            assertThat(position.topicId()).isEqualTo("topic-id");
            assertThat(position.processedAt()).isBetween(before, Instant.now().plusSeconds(60));
        });
    }

    @Test
    void aPositionOfAnotherTopicOfThatNameIsLeftAsItIsUntilItIsReset() {
        move(claim(0, 0, 10));
        PositionClaim anew = new PositionClaim("consumer", TOPIC, 0, "other-id", 0, 20);
        assertThat(move(anew)).isEmpty();
        PartitionPosition read = this.transaction.execute(status -> this.store.lock(anew));
        assertThat(read.nextOffset()).isEqualTo(10);
        this.transaction.executeWithoutResult(status -> this.store.reset(anew));
        assertThat(this.store.positionsOf("consumer"))
                .extracting(PartitionPosition::topicId, PartitionPosition::nextOffset)
                .containsExactly(tuple("other-id", 20L));
    }

    @Test
    void whatHasBeenPassedIsFoundWithoutALockWhereItMayBe() {
        move(claim(0, 0, 10));
        this.transaction.executeWithoutResult(status -> {
            boolean mayBe = this.server == StoreServer.POSTGRES;
            assertThat(this.store.findPassed(claim(0, 4, 5))).isEqualTo(mayBe ? 10L : null);
            assertThat(this.store.findPassed(claim(0, 9, 11))).isNull();
            assertThat(this.store.findPassed(claim(1, 0, 1))).isNull();
            assertThat(this.store.findPassed(new PositionClaim("consumer", TOPIC, 0, "other", 0, 1)))
                    .isNull();
            if (mayBe) {
                assertThat(this.jdbc.queryForObject("select txid_current_if_assigned()", Long.class))
                        .isNull();
            }
        });
    }
}
