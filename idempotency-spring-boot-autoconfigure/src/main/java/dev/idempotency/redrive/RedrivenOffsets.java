package dev.idempotency.redrive;

import dev.idempotency.kafka.PartitionReader.Range;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Which records of a dead-letter partition need no more be sent back: all before a position, and some behind it.
 *
 * <p>It is kept as a committed offset. Its metadata has the topic's id, as a topic that was created anew begins anew, and
 * what is behind the position; brokers take 4 kB of it, and what does not fit is forgotten and so sent a second time.
 */
final class RedrivenOffsets {

    private static final int LARGEST_METADATA = 3_500;
    private static final int RADIX = Character.MAX_RADIX;

    private final Uuid topicId;
    private long position;

    /** Behind the position: from the first to the one behind the last. They do not touch each other. */
    private final TreeMap<Long, Long> behind = new TreeMap<>();

    private RedrivenOffsets(Uuid topicId, long position) {
        this.topicId = topicId;
        this.position = position;
    }

    /** What was committed, as far as it is about what stands in the partition of this very topic. */
    static RedrivenOffsets of(@Nullable OffsetAndMetadata committed, Uuid topicId, Range contents) {
        RedrivenOffsets none = new RedrivenOffsets(topicId, contents.from());
        if (committed == null || committed.offset() > contents.to()) {
            return none;
        }
        String[] parts = committed.metadata().split(" ");
        if (!parts[0].equals(topicId.toString())) {
            return none;
        }
        RedrivenOffsets offsets = new RedrivenOffsets(topicId, committed.offset());
        try {
            for (int i = 1; i < parts.length; i++) {
                String[] bounds = parts[i].split("-");
                long from = committed.offset() + Long.parseLong(bounds[0], RADIX);
                offsets.add(new Range(from, from + Long.parseLong(bounds[1], RADIX)));
            }
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException ex) {
            // Somebody else has written that. What was understood holds; the rest is sent a second time.
        }
        offsets.add(new Range(0, contents.from()));
        return offsets;
    }

    long position() {
        return this.position;
    }

    boolean contains(long offset) {
        Map.Entry<Long, Long> before = this.behind.floorEntry(offset);
        return offset < this.position || (before != null && offset < before.getValue());
    }

    void add(Range range) {
        if (range.to() <= Math.max(this.position, range.from())) {
            return;
        }
        long from = range.from();
        long to = range.to();
        for (Map.Entry<Long, Long> next = this.behind.floorEntry(to);
                next != null && next.getValue() >= from;
                next = this.behind.floorEntry(to)) {
            from = Math.min(from, next.getKey());
            to = Math.max(to, next.getValue());
            this.behind.remove(next.getKey());
        }
        if (from <= this.position) {
            this.position = to;
        } else {
            this.behind.put(from, to);
        }
    }

    /** What another one says need no more be sent back, need not. */
    void addAll(RedrivenOffsets others) {
        add(new Range(0, others.position));
        others.behind.forEach((from, to) -> add(new Range(from, to)));
    }

    OffsetAndMetadata toCommit() {
        StringBuilder metadata = new StringBuilder(this.topicId.toString());
        for (Map.Entry<Long, Long> range : this.behind.entrySet()) {
            String part = " " + Long.toString(range.getKey() - this.position, RADIX) + "-"
                    + Long.toString(range.getValue() - range.getKey(), RADIX);
            if (metadata.length() + part.length() > LARGEST_METADATA) {
                break;
            }
            metadata.append(part);
        }
        return new OffsetAndMetadata(this.position, metadata.toString());
    }
}
