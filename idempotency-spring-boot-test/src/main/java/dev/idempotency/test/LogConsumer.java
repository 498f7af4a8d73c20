package dev.idempotency.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.jspecify.annotations.Nullable;

/**
 * A consumer of records that are not on a broker: positions, seeks, pauses and commits work as usual.
 *
 * <p>The container has handled all records when it polls again with nothing left to fetch, nothing paused, and no error
 * handler has sought back.
 */
final class LogConsumer extends MockConsumer<Object, Object> {

    private static final Duration PATIENCE = Duration.ofMillis(10);

    private final Map<TopicPartition, List<LoggedRecord>> log;
    private final Function<LoggedRecord, ConsumerRecord<Object, Object>> reader;
    private final int maxPollRecords;
    private final ContainerRun run;
    private final CountDownLatch done = new CountDownLatch(1);
    private final Set<TopicPartition> read = ConcurrentHashMap.newKeySet();
    private boolean assigned;
    private boolean delivered;

    LogConsumer(
            List<LoggedRecord> records,
            Function<LoggedRecord, ConsumerRecord<Object, Object>> reader,
            int maxPollRecords,
            ContainerRun run) {
        super("earliest");
        this.log = records.stream()
                .sorted(Comparator.comparingLong(LoggedRecord::offset))
                .collect(Collectors.groupingBy(LoggedRecord::partition, LinkedHashMap::new, Collectors.toList()));
        this.reader = reader;
        this.maxPollRecords = maxPollRecords;
        this.run = run;
        this.log.forEach((partition, ofIt) -> {
            updateBeginningOffsets(Map.of(partition, ofIt.get(0).offset()));
            updateEndOffsets(Map.of(partition, ofIt.get(ofIt.size() - 1).offset() + 1));
        });
    }

    boolean awaitDone(Duration timeout) throws InterruptedException {
        return this.done.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The partitions of which no record was read, although the run is complete: their records have not reached the listener. */
    Set<TopicPartition> unread() {
        Set<TopicPartition> unread = new LinkedHashSet<>(this.log.keySet());
        unread.removeAll(this.read);
        return unread;
    }

    /** Partitions that are assigned manually may be missing in the log. */
    @Override
    public synchronized void assign(Collection<TopicPartition> partitions) {
        this.assigned = true;
        for (TopicPartition partition : partitions) {
            if (!this.log.containsKey(partition)) {
                updateBeginningOffsets(Map.of(partition, 0L));
                updateEndOffsets(Map.of(partition, 0L));
            }
        }
        super.assign(partitions);
    }

    /** Does not hold the monitor while it waits, as {@code wakeup} needs it. */
    @Override
    public ConsumerRecords<Object, Object> poll(Duration timeout) {
        this.run.enter();
        if (!this.assigned) {
            this.assigned = true;
            rebalance(List.copyOf(this.log.keySet()));
        }
        super.poll(Duration.ZERO);
        if (!this.delivered) {
            this.delivered = true;
            this.run.awaitOthers();
        }
        ConsumerRecords<Object, Object> records = fetch();
        if (!records.isEmpty()) {
            return records;
        }
        if (isAtEnd()) {
            this.done.countDown();
        }
        return rest(timeout);
    }

    private ConsumerRecords<Object, Object> rest(Duration timeout) {
        try {
            Thread.sleep(Math.min(timeout.toMillis(), PATIENCE.toMillis()));
        } catch (InterruptedException ex) {
            throw new InterruptException(ex);
        }
        return ConsumerRecords.empty();
    }

    private synchronized boolean isAtEnd() {
        Set<TopicPartition> mine = assignment();
        return paused().isEmpty()
                && this.log.entrySet().stream()
                        .filter(entry -> mine.contains(entry.getKey()))
                        .allMatch(entry -> position(entry.getKey())
                                > entry.getValue()
                                        .get(entry.getValue().size() - 1)
                                        .offset());
    }

    private synchronized ConsumerRecords<Object, Object> fetch() {
        Map<TopicPartition, List<ConsumerRecord<Object, Object>>> fetched = new LinkedHashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        int room = this.maxPollRecords;
        for (TopicPartition partition : this.log.keySet()) {
            if (room == 0 || !assignment().contains(partition) || paused().contains(partition)) {
                continue;
            }
            List<ConsumerRecord<Object, Object>> ofIt = fetch(partition, room, fetched.isEmpty());
            if (!ofIt.isEmpty()) {
                room -= ofIt.size();
                fetched.put(partition, ofIt);
                next.put(partition, new OffsetAndMetadata(position(partition)));
            }
        }
        return new ConsumerRecords<>(fetched, next);
    }

    /** Stops before an unreadable record, unless it is the first one: then this poll fails, and so does every later one. */
    private List<ConsumerRecord<Object, Object>> fetch(TopicPartition partition, int room, boolean first) {
        List<ConsumerRecord<Object, Object>> fetched = new ArrayList<>();
        for (LoggedRecord record : this.log.get(partition)) {
            if (record.offset() >= position(partition) && fetched.size() < room) {
                this.read.add(partition);
                try {
                    fetched.add(this.reader.apply(record));
                } catch (RecordDeserializationException ex) {
                    if (first && fetched.isEmpty()) {
                        throw ex;
                    }
                    break;
                }
                seek(partition, record.offset() + 1);
            }
        }
        return fetched;
    }

    /** Called by all other methods that commit. */
    @Override
    public synchronized void commitAsync(
            Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable OffsetCommitCallback callback) {
        if (this.run.losesCommits()) {
            if (callback != null) {
                callback.onComplete(offsets, null);
            }
            return;
        }
        super.commitAsync(offsets, callback);
    }

    @Override
    @SuppressWarnings("deprecation") // Which method closes it depends on the version of Spring Kafka.
    public synchronized void close(Duration timeout) {
        this.run.leave();
        super.close(timeout);
    }

    @Override
    public void close(CloseOptions options) {
        this.run.leave();
        super.close(options);
    }
}
