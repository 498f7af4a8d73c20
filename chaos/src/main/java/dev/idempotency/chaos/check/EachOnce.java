package dev.idempotency.chaos.check;

import dev.idempotency.chaos.MessageKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Expects that every message is applied once, or dead-lettered if it always fails.
 *
 * @param sent kinds by id of the message, or of the record for consumers that distinguish records
 */
public record EachOnce(Map<String, MessageKind> sent) implements Expectation {

    /** Expects each of these messages once, however often it was sent. A message's position is its id. */
    public static EachOnce ofMessages(List<MessageKind> messages) {
        return new EachOnce(
                IntStream.range(0, messages.size()).boxed().collect(Collectors.toMap(String::valueOf, messages::get)));
    }

    @Override
    public Verdict check(String consumer, List<String> applied, Set<String> dead) {
        Map<String, Integer> times = new HashMap<>();
        applied.forEach(id -> times.merge(id, 1, Integer::sum));
        List<String> lost = new ArrayList<>();
        this.sent.keySet().stream()
                .filter(id -> !times.containsKey(id) && !dead.contains(id))
                .forEach(lost::add);
        List<String> tooOften = new ArrayList<>();
        times.forEach((id, count) -> {
            MessageKind kind = this.sent.get(id);
            if (count > ((kind == null || kind == MessageKind.POISON) ? 0 : 1)) {
                tooOften.add(id);
            }
        });
        return new Verdict(
                consumer,
                times.size(),
                dead.size(),
                lost,
                tooOften,
                List.of(),
                dead.stream()
                        .filter(id -> this.sent.get(id) != MessageKind.POISON)
                        .toList(),
                dead.stream().filter(times::containsKey).toList(),
                List.of());
    }
}
