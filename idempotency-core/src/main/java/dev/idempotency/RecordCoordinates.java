package dev.idempotency;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a record stands in Kafka: {@code topic-partition@offset}.
 *
 * @param topic the topic
 * @param partition the partition
 * @param offset the offset
 */
public record RecordCoordinates(String topic, int partition, long offset) {

    private static final Pattern TEXT = Pattern.compile("([a-zA-Z0-9._-]{1,249})-([0-9]{1,9})@([0-9]{1,18})");

    /**
     * Parses the text of {@link #toString()}.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static RecordCoordinates parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "A record is named by topic, partition and offset, as in orders-dlt-0@42");
        }
        return new RecordCoordinates(
                matcher.group(1), Integer.parseInt(matcher.group(2)), Long.parseLong(matcher.group(3)));
    }

    @Override
    public String toString() {
        return this.topic + "-" + this.partition + "@" + this.offset;
    }
}
