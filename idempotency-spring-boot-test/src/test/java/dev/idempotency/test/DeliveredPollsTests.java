package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which polls are redelivered, and when. */
class DeliveredPollsTests {

    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    private static final Set<TopicPartition> ALL = Set.of(PARTITION);

    @Test
    void aPollComesAgainOnceAndAfterItsCommitOnly() {
        DeliveredPolls<String, String> polls = new DeliveredPolls<>(0, null);
        polls.delivering(records(0, 1));

        assertThat(polls.next(ALL, ALL, false)).isNull();
        commit(polls, 1);
        assertThat(polls.next(ALL, ALL, false)).isNull();
        commit(polls, 2);
        assertThat(polls.committing(Map.of(PARTITION, new OffsetAndMetadata(1, "backwards"))))
                .containsExactly(Map.entry(PARTITION, new OffsetAndMetadata(2, "backwards")));
        assertThat(polls.next(ALL, Set.of(), false)).as("while it is paused").isNull();
        assertThat(offsets(polls.next(ALL, ALL, false))).containsExactly(0L, 1L);
        assertThat(polls.next(ALL, ALL, true)).isNull();
    }

    @Test
    void aPollComesAgainAfterSoManyFurtherRecordsOrWhenThereAreNoMore() {
        DeliveredPolls<String, String> polls = new DeliveredPolls<>(2, null);
        deliver(polls, 0);
        deliver(polls, 1);
        assertThat(polls.next(ALL, ALL, false)).isNull();
        deliver(polls, 2);

        assertThat(offsets(polls.next(ALL, ALL, false))).containsExactly(0L);
        assertThat(polls.next(ALL, ALL, false)).isNull();
        assertThat(offsets(polls.next(ALL, ALL, true))).containsExactly(1L);
        assertThat(offsets(polls.next(ALL, ALL, true))).containsExactly(2L);
    }

    @Test
    void inRandomOrderTheSameSeedGivesTheSameOrder() {
        assertThat(order(7))
                .isEqualTo(order(7))
                .isNotEqualTo(order(8))
                .containsExactlyInAnyOrder(LongStream.range(0, 30).boxed().toArray(Long[]::new));
    }

    @Test
    void whatAnErrorHandlerHasSoughtBackToIsNotRememberedAgain() {
        DeliveredPolls<String, String> polls = new DeliveredPolls<>(0, null);
        polls.delivering(records(0, 1));
        polls.delivering(records(1));
        commit(polls, 2);

        assertThat(offsets(polls.next(ALL, ALL, false))).containsExactly(0L, 1L);
        assertThat(polls.next(ALL, ALL, true)).isNull();
    }

    @Test
    void aRecordComesAgainWithTheHeadersThatItCameWith() {
        DeliveredPolls<String, String> polls = new DeliveredPolls<>(0, null);
        ConsumerRecords<String, String> records = records(0);
        ConsumerRecord<String, String> record = records.iterator().next();
        record.headers().add("id", new byte[] {1});
        polls.delivering(records);
        record.headers().lastHeader("id").value()[0] = 2;
        record.headers().add("more", new byte[0]);
        commit(polls, 1);

        assertThat(polls.next(ALL, ALL, false))
                .flatExtracting(again -> List.of(again.headers().toArray()))
                .containsExactly(new RecordHeader("id", new byte[] {1}));
    }

    private static List<Long> order(long seed) {
        DeliveredPolls<String, String> polls = new DeliveredPolls<>(0, new Random(seed));
        for (long offset = 0; offset < 30; offset += 3) {
            polls.delivering(records(offset, offset + 1, offset + 2));
        }
        commit(polls, 30);
        List<Long> order = new ArrayList<>();
        for (ConsumerRecords<String, String> next = polls.next(ALL, ALL, false);
                next != null;
                next = polls.next(ALL, ALL, false)) {
            order.addAll(offsets(next));
        }
        return order;
    }

    private static void deliver(DeliveredPolls<String, String> polls, long offset) {
        polls.delivering(records(offset));
        commit(polls, offset + 1);
    }

    private static void commit(DeliveredPolls<String, String> polls, long offset) {
        polls.committing(Map.of(PARTITION, new OffsetAndMetadata(offset)));
    }

    private static List<Long> offsets(@Nullable ConsumerRecords<String, String> records) {
        List<Long> offsets = new ArrayList<>();
        if (records != null) {
            records.forEach(record -> offsets.add(record.offset()));
        }
        return offsets;
    }

    private static ConsumerRecords<String, String> records(long... offsets) {
        List<ConsumerRecord<String, String>> records = LongStream.of(offsets)
                .mapToObj(offset -> new ConsumerRecord<>("topic", 0, offset, "key", "value"))
                .toList();
        return new ConsumerRecords<>(Map.of(PARTITION, records), Map.of());
    }
}
