package dev.idempotency.contract;

import static dev.idempotency.app.Thrown.undeclared;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.IdempotencyEventListener;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Messages of one case and their outcomes, as seen by the broker, by observers, and by the database on another connection.
 * Messages are numbered as they are sent.
 */
final class Journal {

    private static final String HEADER = "case";
    private static final Map<String, Journal> ALL = new ConcurrentHashMap<>();

    /** A committed row that was written by a listener. */
    record Effect(int number, String id, long version, String command, int amount, int attempt) {}

    final String topic;
    final Kind kind;
    final String container;
    final int partitions;
    final int consumers;
    final List<Order> sent = new CopyOnWriteArrayList<>();
    final List<Integer> deadLetters = new CopyOnWriteArrayList<>();
    final Set<String> violations = ConcurrentHashMap.newKeySet();
    final Map<String, Integer> calls = new ConcurrentHashMap<>();
    final AtomicInteger arrivals = new AtomicInteger();
    final AtomicInteger cuts = new AtomicInteger(GenericListener.OUTAGE);
    final AtomicInteger refusedByBroker = new AtomicInteger();
    volatile boolean repaired;
    private final JdbcTemplate control;
    private final Map<String, Integer> reports = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicInteger> attempts = new ConcurrentHashMap<>();
    private final Map<TopicPartition, ConcurrentSkipListMap<Long, Integer>> places = new ConcurrentHashMap<>();
    private final Map<TopicPartition, Long> committed = new ConcurrentHashMap<>();

    Journal(String topic, Kind kind, String container, int partitions, int consumers, JdbcTemplate control) {
        this.topic = topic;
        this.kind = kind;
        this.container = container;
        this.partitions = partitions;
        this.consumers = consumers;
        this.control = control;
        ALL.put(topic, this);
    }

    static void closeAll() {
        ALL.clear();
    }

    /** The journal of a topic, of one of its retry topics, or of a thread that consumes it. */
    static Stream<Journal> of(String name) {
        return ALL.values().stream().filter(journal -> (name + "-").startsWith(journal.topic + "-"));
    }

    static Journal of(Headers headers) {
        return ALL.get(header(headers).split("/")[0]);
    }

    static int numberOf(Headers headers) {
        return Integer.parseInt(header(headers).split("/")[1]);
    }

    private static String header(Headers headers) {
        return new String(headers.lastHeader(HEADER).value(), StandardCharsets.UTF_8);
    }

    /** The next message to send. Each goes to the next partition, or to the last one. */
    ProducerRecord<String, byte[]> next(String text) {
        int number = this.sent.size();
        this.sent.add(new Order(text));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ProducerRecord<String, byte[]> message =
                new ProducerRecord<>(this.topic, Math.min(number, this.partitions - 1), null, bytes);
        message.headers().add(HEADER, (this.topic + "/" + number).getBytes(StandardCharsets.UTF_8));
        String id = this.sent.get(number).getId();
        if (id != null) {
            message.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        }
        return message;
    }

    int numberAt(int partition, long offset) {
        return this.places.get(new TopicPartition(this.topic, partition)).get(offset);
    }

    int attempt(int number) {
        return this.attempts.computeIfAbsent(number, any -> new AtomicInteger()).incrementAndGet();
    }

    /** Counts a call outside the database, made for a message. */
    void call(int number, String step) {
        this.calls.merge(number + "/" + step, 1, Integer::sum);
    }

    int attempts(int number) {
        return this.attempts.get(number).get();
    }

    boolean isAwaited(int pid) {
        String sql = "select count(*) > 0 from pg_stat_activity where ? = any (pg_blocking_pids(pid))";
        return this.control.queryForObject(sql, Boolean.class, pid);
    }

    /** Whether a message has this command and its connection must still be cut. */
    boolean isCutAt(String command) {
        return this.sent.stream().anyMatch(order -> order.command.equals(command)) && this.cuts.getAndDecrement() > 0;
    }

    /** Returns the committed effects, in the order in which they were written. */
    List<Effect> effects() {
        return this.control.query(
                "select * from effect where topic = ? order by written",
                (row, i) -> new Effect(
                        row.getInt("number"),
                        row.getString("id"),
                        row.getLong("version"),
                        row.getString("command"),
                        row.getInt("amount"),
                        row.getInt("attempt")),
                this.topic);
    }

    /** The number of messages in the inbox with this status. */
    int kept(String status) {
        String sql = "select count(*) from idempotency_inbox where record_topic = ? and status = ?";
        return this.control.queryForObject(sql, Integer.class, this.topic, status);
    }

    /** Messages that are neither effects, nor duplicates of effects, nor dead letters. */
    List<Order> unsettled() {
        List<Effect> effects = effects();
        return IntStream.range(0, this.sent.size())
                .filter(number -> !isSettled(number, effects))
                .mapToObj(this.sent::get)
                .toList();
    }

    private boolean isSettled(int number, List<Effect> effects) {
        return this.deadLetters.contains(number)
                || effects.stream().anyMatch(effect -> effect.number() == number || isRepeatedBy(number, effect));
    }

    private boolean isRepeatedBy(int number, Effect effect) {
        Order order = this.sent.get(number);
        boolean same = effect.command().equals(order.command) || this.kind.onConflict.equals("warn");
        return this.kind.strategy != DeduplicationStrategy.OFFSET
                && effect.id().equals(order.getId())
                && (effect.version() > order.getVersion() || (effect.version() == order.getVersion() && same));
    }

    /** The identity for which there may be only one effect. */
    Object identityOf(Effect effect) {
        return switch (this.kind.strategy) {
            case OFFSET -> effect.number();
            case VERSION -> effect.id() + "@" + effect.version();
            case MESSAGE_ID, UNIQUE_CONSTRAINT -> effect.id();
        };
    }

    /** Whether the offsets of all messages are committed, in retry topics too. */
    boolean isCaughtUp(Predicate<String> topics) {
        return this.places.entrySet().stream()
                .filter(place -> !place.getKey().topic().endsWith("-dlt"))
                .filter(place -> topics.test(place.getKey().topic()))
                .allMatch(place -> this.committed.getOrDefault(place.getKey(), 0L)
                        == place.getValue().lastKey() + 1);
    }

    void rewind() {
        this.committed.clear();
    }

    /** Called right after a commit of offsets, on the thread on which listeners run: nothing has happened in between. */
    private void committed(TopicPartition partition, long offset) {
        List<Effect> effects = effects();
        this.places.get(partition).headMap(offset).forEach((place, number) -> {
            if (!isSettled(number, effects) && !isForwarded(number, partition, place)) {
                this.violations.add("offset of " + this.sent.get(number) + " committed before its transaction");
            }
        });
        this.committed.put(partition, offset);
    }

    /** Whether the message was also stored outside its original topic, and after this offset if in this partition. */
    private boolean isForwarded(int number, TopicPartition partition, long offset) {
        return this.places.entrySet().stream()
                .filter(place -> !place.getKey().topic().equals(this.topic))
                .anyMatch(place -> place.getValue()
                        .tailMap(place.getKey().equals(partition) ? offset + 1 : 0)
                        .containsValue(number));
    }

    /** Records that the broker has stored a message, where it was sent or forwarded to. */
    private void stored(RecordMetadata metadata, int number) {
        this.places
                .computeIfAbsent(
                        new TopicPartition(metadata.topic(), metadata.partition()),
                        any -> new ConcurrentSkipListMap<>())
                .put(metadata.offset(), number);
        if (metadata.topic().endsWith("-dlt")) {
            this.deadLetters.add(number);
        }
    }

    /** Called by the application's error handler, which may fail itself at first. */
    static void handled(ConsumerRecord<?, ?> record) {
        Journal journal = of(record.headers());
        if (journal.sent.get(numberOf(record.headers())).command.equals("fails-with-its-handler")) {
            switch (journal.arrivals.getAndIncrement()) {
                case 0 -> throw undeclared(new IOException("told to fail"));
                case 1 -> throw new IllegalStateException("told to fail");
                case 2 -> throw new StackOverflowError("told to fail");
                default -> {}
            }
        }
    }

    /** The recoverer of the application's error handler. */
    static void recovered(ConsumerRecord<?, ?> record, Exception failure) {
        of(record.headers()).deadLetters.add(numberOf(record.headers()));
    }

    /** Counts the events of the case, by the name of the listener's method. */
    IdempotencyEventListener observer() {
        return observer(report -> this.reports.merge(report, 1, Integer::sum));
    }

    static IdempotencyEventListener observer(Consumer<String> reports) {
        Class<?>[] type = {IdempotencyEventListener.class};
        return (IdempotencyEventListener)
                Proxy.newProxyInstance(Journal.class.getClassLoader(), type, (proxy, method, arguments) -> {
                    reports.accept(method.getName());
                    return null;
                });
    }

    int reported(String what) {
        return this.reports.getOrDefault(what, 0);
    }

    @Override
    public String toString() {
        return "sent %s, effects %s, dead letters %s, reports %s, attempts %s, committed %s"
                .formatted(this.sent, effects(), this.deadLetters, this.reports, this.attempts, this.committed);
    }

    /** Records committed offsets and acknowledged sends. */
    public static final class Tap implements ConsumerInterceptor<String, Order>, ProducerInterceptor<Object, Object> {

        @Override
        public ConsumerRecords<String, Order> onConsume(ConsumerRecords<String, Order> records) {
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
            offsets.forEach((partition, offset) ->
                    of(partition.topic()).forEach(journal -> journal.committed(partition, offset.offset())));
        }

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception exception, Headers headers) {
            if (exception == null) {
                of(headers).stored(metadata, numberOf(headers));
            } else {
                of(headers).refusedByBroker.incrementAndGet();
            }
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }
}
