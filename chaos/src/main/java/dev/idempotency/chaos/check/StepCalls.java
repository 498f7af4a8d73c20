package dev.idempotency.chaos.check;

import dev.idempotency.chaos.StepLine;
import dev.idempotency.chaos.StepLine.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Expects that every message is applied once or dead-lettered, and that steps are not repeated: an attempt does not call a step
 * that was recorded before it began, and an at-most-once step is never called twice. Messages with an unknown outcome of a step
 * are dead-lettered.
 *
 * @param each the expectation for the messages
 * @param lines the log of the called system
 * @param unknown the ids of messages that were dead-lettered because the outcome of a step is unknown
 */
public record StepCalls(EachOnce each, List<StepLine> lines, Set<String> unknown) implements Expectation {

    @Override
    public Verdict check(String consumer, List<String> applied, Set<String> dead) {
        Verdict verdict = this.each.check(consumer, applied, dead);
        List<String> tooOften = new ArrayList<>(verdict.doubled());
        tooOften.addAll(calledInVain());
        calls(Event.MAILED).forEach((id, times) -> {
            if (times > 1) {
                tooOften.add("mail of " + id);
            }
        });
        return new Verdict(
                consumer,
                verdict.applied(),
                verdict.deadLettered(),
                verdict.lost(),
                tooOften,
                List.of(),
                withoutUnknown(verdict.wronglyDeadLettered()),
                withoutUnknown(verdict.deadLetteredAndApplied()),
                List.of());
    }

    /** A copy of such a message may succeed after an instance that was suspended in the call has recorded the step. */
    private List<String> withoutUnknown(List<String> ids) {
        return ids.stream().filter(id -> !this.unknown.contains(id)).toList();
    }

    /** Calls of a step that was recorded before their attempt began. */
    private List<String> calledInVain() {
        Map<String, Instant> recorded = first(Event.RECORDED, StepLine::messageId);
        Map<String, Instant> begun = first(Event.BEGUN, StepLine::attempt);
        return this.lines.stream()
                .filter(line -> line.event() == Event.CHARGED)
                .filter(line -> {
                    Instant before = recorded.get(line.messageId());
                    return before != null && before.isBefore(begun.get(line.attempt()));
                })
                .map(line -> "charge of " + line.messageId())
                .toList();
    }

    private Map<String, Instant> first(Event event, Function<StepLine, String> key) {
        return this.lines.stream()
                .filter(line -> line.event() == event)
                .collect(Collectors.toMap(key, StepLine::at, (one, other) -> one.isBefore(other) ? one : other));
    }

    private Map<String, Long> calls(Event event) {
        return this.lines.stream()
                .filter(line -> line.event() == event)
                .collect(Collectors.groupingBy(StepLine::messageId, TreeMap::new, Collectors.counting()));
    }

    /** Returns how often steps were called, for the report. */
    public String summary() {
        Map<String, Long> charges = calls(Event.CHARGED);
        Map<String, Long> mails = calls(Event.MAILED);
        long made = charges.values().stream().mapToLong(Long::longValue).sum();
        return "`step` called %,d times for %,d messages: %d calls were repeated, as their attempts ended between the call and the record. `stepAtMostOnce` called %,d times for %,d messages; %d messages were dead-lettered with an unknown outcome."
                .formatted(
                        made,
                        charges.size(),
                        made - charges.size(),
                        mails.values().stream().mapToLong(Long::longValue).sum(),
                        mails.size(),
                        this.unknown.size());
    }
}
