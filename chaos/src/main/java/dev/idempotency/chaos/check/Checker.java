package dev.idempotency.chaos.check;

import dev.idempotency.chaos.MessageKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** Holds what was sent against what was applied and dead-lettered. */
public final class Checker {

    private final List<MessageKind> messages;
    private final JdbcTemplate jdbc;
    private final Map<String, Set<String>> deadLetters;
    private final Map<String, Map<String, Long>> meters;

    /**
     * A checker of a run that is over.
     *
     * @param messages the kinds of all messages; their ids are their positions in it
     * @param jdbc where the effects are
     * @param deadLetters the ids of dead letters, by consumer
     * @param meters what meters say was processed: by instance, then by consumer
     */
    public Checker(
            List<MessageKind> messages,
            JdbcTemplate jdbc,
            Map<String, Set<String>> deadLetters,
            Map<String, Map<String, Long>> meters) {
        this.messages = messages;
        this.jdbc = jdbc;
        this.deadLetters = deadLetters;
        this.meters = meters;
    }

    public Verdict check(String consumer) {
        Map<String, Integer> effects = new HashMap<>();
        this.jdbc.query(
                "select message_id, count(*) from effect where consumer = ? group by message_id",
                row -> {
                    effects.put(row.getString(1), row.getInt(2));
                },
                consumer);
        Set<String> dead = this.deadLetters.getOrDefault(consumer, Set.of());
        List<String> lost = new ArrayList<>();
        List<String> doubled = new ArrayList<>();
        List<String> wronglyDead = new ArrayList<>();
        List<String> both = new ArrayList<>();
        for (int i = 0; i < this.messages.size(); i++) {
            String id = String.valueOf(i);
            int times = effects.getOrDefault(id, 0);
            boolean isDead = dead.contains(id);
            boolean isPoison = this.messages.get(i) == MessageKind.POISON;
            if (times == 0 && !isDead) {
                lost.add(id);
            }
            if (times > (isPoison ? 0 : 1)) {
                doubled.add(id);
            }
            if (isDead && !isPoison) {
                wronglyDead.add(id);
            }
            if (isDead && times > 0) {
                both.add(id);
            }
        }
        return new Verdict(
                consumer, effects.size(), dead.size(), lost, doubled, wronglyDead, both, overcounted(consumer));
    }

    /** Less is possible where a commit got through and its answer did not; more never. */
    private List<String> overcounted(String consumer) {
        return this.meters.entrySet().stream()
                .filter(instance ->
                        instance.getValue().getOrDefault(consumer, 0L) > applied(consumer, instance.getKey()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private long applied(String consumer, String instance) {
        Long applied = this.jdbc.queryForObject(
                "select count(*) from effect where consumer = ? and instance = ?", Long.class, consumer, instance);
        return (applied != null) ? applied : 0;
    }
}
