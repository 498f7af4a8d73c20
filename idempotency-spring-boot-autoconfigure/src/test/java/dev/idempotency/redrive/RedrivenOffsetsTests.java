package dev.idempotency.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.kafka.PartitionReader.Range;
import java.util.BitSet;
import java.util.Random;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class RedrivenOffsetsTests {

    private static final Uuid TOPIC = Uuid.randomUuid();
    private static final Range CONTENTS = new Range(0, 1_000);

    private static RedrivenOffsets none() {
        return RedrivenOffsets.of(null, TOPIC, CONTENTS);
    }

    @Test
    void whateverIsAddedInWhateverOrderIsRememberedAndNothingElse() {
        Random random = new Random(25);
        for (int round = 0; round < 200; round++) {
            RedrivenOffsets offsets = none();
            BitSet expected = new BitSet();
            for (int i = 0; i < 40; i++) {
                int from = random.nextInt(300);
                int to = from + random.nextInt(8);
                offsets.add(new Range(from, to));
                expected.set(from, to);
            }
            RedrivenOffsets restored = RedrivenOffsets.of(offsets.toCommit(), TOPIC, CONTENTS);
            assertThat(restored.position()).isEqualTo(expected.nextClearBit(0));
            for (int i = 0; i < 320; i++) {
                assertThat(offsets.contains(i)).as("%d of %s", i, expected).isEqualTo(expected.get(i));
                assertThat(restored.contains(i)).as("%d of %s", i, expected).isEqualTo(expected.get(i));
            }
        }
    }

    @Test
    void moreThanTheBrokerTakesIsForgottenAndNeverMadeUp() {
        RedrivenOffsets offsets = none();
        for (long i = 1; i < 100_000; i += 2) {
            offsets.add(new Range(i, i + 1));
        }
        OffsetAndMetadata commit = offsets.toCommit();
        assertThat(commit.metadata().length()).isLessThan(4_000);
        RedrivenOffsets restored = RedrivenOffsets.of(commit, TOPIC, new Range(0, 200_000));
        assertThat(restored.contains(1)).isTrue();
        assertThat(restored.contains(99_999)).isFalse();
        for (long i = 0; i < 100_000; i += 2) {
            assertThat(restored.contains(i)).isFalse();
        }
    }

    @Test
    void aTopicThatWasCreatedAnewBeginsAnew() {
        RedrivenOffsets offsets = none();
        offsets.add(new Range(0, 10));
        assertThat(RedrivenOffsets.of(offsets.toCommit(), Uuid.randomUuid(), CONTENTS)
                        .position())
                .isZero();
        assertThat(RedrivenOffsets.of(offsets.toCommit(), TOPIC, new Range(0, 5))
                        .position())
                .isZero();
    }

    @Test
    void whatHasBeenRemovedFromTheTopicNeedNotBeSent() {
        RedrivenOffsets offsets = none();
        offsets.add(new Range(3, 4));
        RedrivenOffsets trimmed = RedrivenOffsets.of(offsets.toCommit(), TOPIC, new Range(20, 30));
        assertThat(trimmed.position()).isEqualTo(20);
        assertThat(trimmed.contains(20)).isFalse();
    }

    @Test
    void whatSomebodyElseHasCommittedIsNotUnderstood() {
        for (String metadata : new String[] {"", "x", TOPIC + " x", TOPIC + " 5", TOPIC + " 5--3", TOPIC + " -"}) {
            RedrivenOffsets offsets = RedrivenOffsets.of(new OffsetAndMetadata(4, metadata), TOPIC, CONTENTS);
            assertThat(offsets.position()).as(metadata).isIn(0L, 4L);
            assertThat(offsets.contains(9)).as(metadata).isFalse();
        }
    }
}
