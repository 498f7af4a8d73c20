package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.ProcessKilledException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.inbox.StartCounter.Knowledge;
import dev.idempotency.inbox.StartTable.Start;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DuplicateKeyException;

/** The calls of a listener that one delivery leads to, some of which are counted in case they end the process. */
public final class StartedCalls {

    private static final Logger logger = LoggerFactory.getLogger(StartedCalls.class);

    private static final long PATIENCE_SECONDS = 30;

    /** Held while suspect messages are handled: so none is counted for what another one has done to the process. */
    private static final ReentrantLock SUSPECTS = new ReentrantLock();

    private final StartCounter counter;
    private final List<? extends ConsumerRecord<?, ?>> records;

    /** The messages that are new, by position, of partitions in which nothing has succeeded so far. */
    private final Map<Integer, MessageId> unsettled = new LinkedHashMap<>();

    /** The position of the first of them in each partition. */
    private final Map<TopicPartition, Integer> first = new LinkedHashMap<>();

    private boolean suspect;

    private StartedCalls(StartCounter counter, List<? extends ConsumerRecord<?, ?>> records) {
        this.counter = counter;
        this.records = records;
    }

    /** The calls that these records lead to, counted unless they are suspect. */
    static StartedCalls start(
            StartCounter counter, List<? extends ConsumerRecord<?, ?>> records, IntFunction<@Nullable MessageId> ids) {
        StartedCalls calls = new StartedCalls(counter, records);
        calls.start(ids);
        return calls;
    }

    private void start(IntFunction<@Nullable MessageId> ids) {
        for (int i = 0; i < this.records.size(); i++) {
            MessageId id = this.counter.of(partition(i)).settled() ? null : ids.apply(i);
            if (id != null) {
                this.unsettled.put(i, id);
            }
        }
        if (this.unsettled.isEmpty()) {
            return;
        }
        this.counter.inNewTransaction(this::findFirst);
        this.suspect = this.first.keySet().stream()
                .anyMatch(partition -> this.counter.of(partition).suspect());
        if (this.suspect) {
            awaitTurn();
        } else {
            this.first.values().forEach(this::begin);
        }
    }

    private boolean findFirst(StartTable table) {
        Set<MessageId> processed = this.counter.processed(this.unsettled.values());
        this.unsettled.values().removeIf(processed::contains);
        this.unsettled.keySet().forEach(position -> this.first.putIfAbsent(partition(position), position));
        this.first.forEach((partition, position) -> {
            if (startsOf(position, table) > 0) {
                this.counter.learn(partition, this.counter.of(partition).asSuspect());
            }
        });
        return true;
    }

    /** How often a message has been started and has not ended, which is known of the last one of its partition only. */
    private int startsOf(int position, StartTable table) {
        Start last = table.find(this.counter.consumer(), partition(position));
        return (last != null && last.offset() == offset(position) && last.id().equals(this.unsettled.get(position)))
                ? last.starts()
                : 0;
    }

    private static void awaitTurn() {
        try {
            if (!SUSPECTS.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                logger.debug("Another suspect message takes long: this one is handled beside it");
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Whether one of the messages may have ended a process before. Then the listener is called with one message at a time,
     * each of which is counted by itself.
     */
    public boolean areSuspect() {
        return this.suspect;
    }

    /**
     * The listener is about to be called with one message by itself: counts that, in a transaction of its own.
     *
     * @param position its position in the delivery
     * @throws ProcessKilledException if that has been done often enough; it has been recorded as failed then
     */
    public void begin(int position) {
        MessageId id = this.unsettled.get(position);
        if (id == null) {
            return;
        }
        TopicPartition partition = partition(position);
        long offset = offset(position);
        if (this.counter.of(partition).counted() == offset) {
            return;
        }
        int starts = count(position, id);
        if (starts >= this.counter.maxStarts()) {
            throw giveUp(position, id, starts);
        }
        this.counter.learn(partition, this.counter.of(partition).withCounted(offset));
    }

    /** Counts a message, unless that has been done often enough; returns how often it had been. */
    private int count(int position, MessageId id) {
        Function<StartTable, Integer> counting = table -> {
            int starts = startsOf(position, table);
            if (starts < this.counter.maxStarts()) {
                table.write(partition(position), new Start(offset(position), id, starts + 1));
            }
            return starts;
        };
        try {
            return this.counter.inNewTransaction(counting);
        } catch (DuplicateKeyException ex) {
            // Another process, which still takes the partition for its own, has inserted the row in this moment.
            return this.counter.inNewTransaction(counting);
        }
    }

    /** It may come again, as when its dead letter cannot be published; in the inbox it has failed once. */
    private ProcessKilledException giveUp(int position, MessageId id, int starts) {
        ConsumerRecord<?, ?> record = this.records.get(position);
        ProcessKilledException failure = new ProcessKilledException(
                ("Consumer '%s' was called with %s %d times, and none of these calls has ended:"
                                + " the process was probably killed by it each time (out of memory, an exit, a native crash,"
                                + " a limit of its container). It is not called with it any more. Mend the cause, and then"
                                + " replay the message from the inbox or send it back from the dead-letter topic: it is"
                                + " counted anew.")
                        .formatted(id.consumer(), RecordCoordinates.of(record), starts));
        Knowledge known = this.counter.of(partition(position));
        if (known.givenUp() != record.offset()) {
            this.counter.recordFailure(
                    new DeliveredMessage(id, RecordCoordinates.original(record), record, starts - 1), failure);
        }
        this.counter.learn(partition(position), known.withGivenUp(record.offset()));
        return failure;
    }

    /**
     * All calls have ended, and what they did has been committed or rolled back.
     *
     * @param failure why not all has been processed, or {@code null} if it has
     */
    public void end(@Nullable Throwable failure) {
        if (SUSPECTS.isHeldByCurrentThread()) {
            SUSPECTS.unlock();
        }
        if (failure != null && FatalErrors.contains(failure)) {
            // As good as the end of the process: what was counted stays so, and the next call counts.
            for (int i = 0; i < this.records.size(); i++) {
                this.counter.forget(partition(i));
            }
            return;
        }
        clear();
        if (failure == null) {
            this.first.keySet().forEach(partition -> this.counter.learn(partition, Knowledge.SETTLED));
        }
    }

    private void clear() {
        List<TopicPartition> counted = new ArrayList<>(this.first.keySet());
        counted.removeIf(partition -> this.counter.of(partition).counted() == StartCounter.NONE);
        if (counted.isEmpty()) {
            return;
        }
        try {
            this.counter.inNewTransaction(table -> {
                counted.forEach(partition -> table.clear(this.counter.consumer(), partition));
                return true;
            });
            counted.forEach(partition ->
                    this.counter.learn(partition, this.counter.of(partition).withCounted(StartCounter.NONE)));
        } catch (RuntimeException ex) {
            logger.debug("That calls of consumer '{}' have ended could not be written", this.counter.consumer(), ex);
        }
    }

    private TopicPartition partition(int position) {
        ConsumerRecord<?, ?> record = this.records.get(position);
        return new TopicPartition(record.topic(), record.partition());
    }

    private long offset(int position) {
        return this.records.get(position).offset();
    }
}
