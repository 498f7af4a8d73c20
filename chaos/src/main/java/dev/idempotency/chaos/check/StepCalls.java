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
 * Everything was applied once or dead-lettered, and no step was repeated that must not be: one that was recorded when an attempt
 * began is not called by it, and one that is called at most once is never called twice. Messages of which the outcome of a step
 * is unknown are dead-lettered.
 *
 * @param each what holds for the messages
 * @param lines the books of those who were called
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

    /** A copy of the message may come when somebody who was suspended in the call has recorded that it happened. */
    private List<String> withoutUnknown(List<String> ids) {
        return ids.stream().filter(id -> !this.unknown.contains(id)).toList();
    }

    /** Attempts that called what had been recorded before they began. */
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

    /** How often each was called, for the report. */
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
