package dev.idempotency.benchmarks.measured;

import java.util.Collection;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * One of the listeners that are compared.
 *
 * @param name what it is called in the tables
 * @param id the id of its listener, which is also its group and the name of its effects
 * @param deduplicates whether a message that comes again has no second effect
 * @param memory the table where it remembers messages, or blank
 * @param classes what the application needs for it
 */
public record MeasuredListener(String name, String id, boolean deduplicates, String memory, List<Class<?>> classes) {

    /** Where this library remembers messages by their ids. */
    public static final String CLAIMS = "idempotency_processed";

    /** Where this library remembers positions. */
    public static final String POSITIONS = "idempotency_position";

    /** A listener with nothing against duplicates, that others are compared with. */
    static MeasuredListener raw(String name, String id, Class<?>... classes) {
        return new MeasuredListener(name, id, false, "", List.of(classes));
    }

    static MeasuredListener deduplicating(String name, String id, String memory, Class<?>... classes) {
        return new MeasuredListener(name, id, true, memory, List.of(classes));
    }

    /** What an application needs for several of them. */
    public static List<Class<?>> classesOf(Collection<MeasuredListener> listeners) {
        return listeners.stream()
                .<Class<?>>flatMap(listener -> listener.classes().stream())
                .distinct()
                .toList();
    }

    /** Makes what it did in earlier rounds undone, and what it remembers forgotten. */
    public void forgetAll(JdbcTemplate jdbc) {
        forgetEffects(jdbc);
        if (!this.memory.isBlank()) {
            jdbc.execute("truncate table " + this.memory);
        }
    }

    /** Makes what it did in earlier rounds undone, while it still remembers the messages. */
    public void forgetEffects(JdbcTemplate jdbc) {
        jdbc.execute("truncate table " + Effects.table(this.id));
    }

    /** Fails if there are not that many effects, each of another message. */
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
