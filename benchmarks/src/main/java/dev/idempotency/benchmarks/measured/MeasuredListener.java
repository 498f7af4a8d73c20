package dev.idempotency.benchmarks.measured;

import java.util.Collection;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A listener that takes part in a comparison.
 *
 * @param name its name in reports
 * @param id the id of its listener, which is also its group and the name of its effects
 * @param deduplicates whether redelivered messages have no second effect
 * @param memory the table in which it remembers messages, or blank
 * @param classes the classes that the application needs for it
 */
public record MeasuredListener(String name, String id, boolean deduplicates, String memory, List<Class<?>> classes) {

    /** The table in which this library remembers messages by id. */
    public static final String CLAIMS = "idempotency_processed";

    /** The table in which this library remembers positions. */
    public static final String POSITIONS = "idempotency_position";

    /** Creates a listener without deduplication, with which others are compared. */
    static MeasuredListener raw(String name, String id, Class<?>... classes) {
        return new MeasuredListener(name, id, false, "", List.of(classes));
    }

    static MeasuredListener deduplicating(String name, String id, String memory, Class<?>... classes) {
        return new MeasuredListener(name, id, true, memory, List.of(classes));
    }

    /** Returns the classes that an application needs for several listeners. */
    public static List<Class<?>> classesOf(Collection<MeasuredListener> listeners) {
        return listeners.stream()
                .<Class<?>>flatMap(listener -> listener.classes().stream())
                .distinct()
                .toList();
    }

    /** Deletes its effects of earlier rounds, and the messages that it remembers. */
    public void forgetAll(JdbcTemplate jdbc) {
        forgetEffects(jdbc);
        if (!this.memory.isBlank()) {
            jdbc.execute("truncate table " + this.memory);
        }
    }

    /** Deletes its effects of earlier rounds, but not the messages that it remembers. */
    public void forgetEffects(JdbcTemplate jdbc) {
        jdbc.execute("truncate table " + Effects.table(this.id));
    }

    /** Fails unless there are exactly this many effects, each of a different message. */
    public void checkEffects(JdbcTemplate jdbc, int expected) {
        String table = Effects.table(this.id);
        Integer all = jdbc.queryForObject("select count(*) from " + table, Integer.class);
        Integer different = jdbc.queryForObject("select count(distinct payload) from " + table, Integer.class);
        if (all == null || different == null || all != expected || different != expected) {
            throw new IllegalStateException("%s had %d effects of %d messages, where %d were expected"
                    .formatted(this.name, all, different, expected));
        }
    }
}
