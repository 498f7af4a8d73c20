package dev.idempotency.chaos.check;

import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.RecordId;
import dev.idempotency.chaos.StepLine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** Compares the messages sent with those applied and dead-lettered. */
public final class Checker {

    private final EachOnce ofMessages;
    private final StepCalls ofSteps;
    private final Expectation ofRecords;
    private final Expectation ofVersions;
    private final JdbcTemplate jdbc;
    private final Map<String, Set<String>> deadLetters;
    private final Map<String, Map<String, Long>> meters;
    private final Map<String, Map<String, Long>> rows = new HashMap<>();

    /**
     * Creates a checker of a completed run.
     *
     * @param messages the kinds of all messages; a message's position is its id
     * @param records the kinds of the messages in the topic, by {@link RecordId}
     * @param jdbc the database of the effects
     * @param deadLetters the ids of dead letters, by consumer
     * @param meters the processed counts of the meters: by instance, then by consumer
     * @param calls the calls made in steps
     * @param unknown the ids of messages that were dead-lettered because the outcome of a step is unknown
     */
    public Checker(
            List<MessageKind> messages,
            Map<String, MessageKind> records,
            JdbcTemplate jdbc,
            Map<String, Set<String>> deadLetters,
            Map<String, Map<String, Long>> meters,
            List<StepLine> calls,
            Set<String> unknown) {
        this.ofMessages = EachOnce.ofMessages(messages);
        this.ofSteps = new StepCalls(this.ofMessages, calls, unknown);
        this.ofRecords = new EachOnce(records);
        this.ofVersions = new NewestWins(messages);
        this.jdbc = jdbc;
        this.deadLetters = deadLetters;
        this.meters = meters;
        jdbc.query("select instance, consumer, count(*) from effect group by instance, consumer", row -> {
            this.rows
                    .computeIfAbsent(row.getString(1), instance -> new HashMap<>())
                    .put(row.getString(2), row.getLong(3));
        });
    }

    public Verdict check(String consumer) {
        List<String> applied = this.jdbc.queryForList(
                "select message_id from effect where consumer = ? order by number", String.class, consumer);
        return expectationOf(consumer)
                .check(consumer, applied, this.deadLetters.getOrDefault(consumer, Set.of()))
                .withOvercounted(overcounted(consumer));
    }

    /** How often steps were called. */
    public String stepSummary() {
        return this.ofSteps.summary();
    }

    private Expectation expectationOf(String consumer) {
        if (consumer.equals("steps")) {
            return this.ofSteps;
        }
        if (consumer.startsWith("offset")) {
            return this.ofRecords;
        }
        return consumer.startsWith("version") ? this.ofVersions : this.ofMessages;
    }

    /** Meters may count less, if the response to a commit was lost, but never more. */
    private List<String> overcounted(String consumer) {
        return this.meters.entrySet().stream()
                .filter(instance ->
                        instance.getValue().getOrDefault(consumer, 0L) > applied(consumer, instance.getKey()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private long applied(String consumer, String instance) {
        return this.rows.getOrDefault(instance, Map.of()).getOrDefault(consumer, 0L);
    }
}
