package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.PartitionReader.Range;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Looks for a page of dead letters: through the topics by name, their partitions by number, and these from the oldest on. */
final class DeadLetterSearch {

    /** How many records a page is looked for among: those that do not fit are passed over. */
    private static final int LARGEST_SCAN = 20_000;

    private final DeadLetterQuery query;
    private final int maxRedrives;
    private final List<DeadLetter> found = new ArrayList<>();
    private int scanned;
    private @Nullable RecordCoordinates last;

    DeadLetterSearch(DeadLetterQuery query, int maxRedrives) {
        this.query = query;
        this.maxRedrives = maxRedrives;
    }

    DeadLetterPage in(DeadLetterSource source) {
        try (DeadLetterReader reader = DeadLetterReader.open(source, this.maxRedrives)) {
            reader.contents().forEach((partition, contents) -> {
                Range rest = rest(partition, contents);
                if (!isFull() && rest.length() > 0) {
                    reader.read(partition, rest, this::isFull, records -> look(reader, records));
                }
            });
            return new DeadLetterPage(this.found, List.copyOf(reader.topics()), isFull() ? this.last : null);
        }
    }

    /** What stands behind the one to continue after. */
    private Range rest(TopicPartition partition, Range contents) {
        RecordCoordinates after = this.query.after();
        int order = (after == null) ? 1 : partition.topic().compareTo(after.topic());
        if (order == 0) {
            order = Integer.compare(partition.partition(), after.partition());
        }
        if (order == 0) {
            return contents.intersect(new Range(Math.max(0, after.offset() + 1), Long.MAX_VALUE));
        }
        return (order > 0) ? contents : new Range(contents.to(), contents.to());
    }

    private void look(DeadLetterReader reader, List<ConsumerRecord<byte[], byte[]>> records) {
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (isFull()) {
                return;
            }
            this.scanned++;
            this.last = RecordCoordinates.of(record);
            DeadLetter letter = reader.letterOf(record);
            if (letter != null && this.query.matches(letter)) {
                this.found.add(letter);
            }
        }
    }

    private boolean isFull() {
        return this.found.size() >= this.query.size() || this.scanned >= LARGEST_SCAN;
    }
}
