package dev.idempotency.chaos.check;

import dev.idempotency.chaos.Entities;
import dev.idempotency.chaos.MessageKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Expects that the versions of each entity are applied in ascending order and none twice, and that the newest version that
 * does not always fail is applied. Older versions may have been stale on arrival. A version that always fails may have been
 * stale, too, unless all newer versions fail as well.
 *
 * @param messages the kinds of all messages; a message's position is its id, and the version of its {@link Entities entity}
 */
public record NewestWins(List<MessageKind> messages) implements Expectation {

    @Override
    public Verdict check(String consumer, List<String> applied, Set<String> dead) {
        Set<String> once = new HashSet<>();
        List<String> tooOften = new ArrayList<>();
        List<String> outOfOrder = new ArrayList<>();
        Map<Integer, Integer> newest = new HashMap<>();
        for (String id : applied) {
            int version = Integer.parseInt(id);
            if (!once.add(id) || version >= this.messages.size() || isPoison(version)) {
                tooOften.add(id);
            } else if (newest.merge(Entities.of(version), version, Math::max) > version) {
                outOfOrder.add(id);
            }
        }
        return new Verdict(
                consumer,
                once.size(),
                dead.size(),
                lost(once, dead),
                tooOften,
                outOfOrder,
                dead.stream().filter(id -> !isPoison(Integer.parseInt(id))).toList(),
                dead.stream().filter(once::contains).toList(),
                List.of());
    }

    /** Goes from the newest version to the oldest, for each entity down to the first that can be applied. */
    private List<String> lost(Set<String> applied, Set<String> dead) {
        List<String> lost = new ArrayList<>();
        Set<Integer> done = new HashSet<>();
        for (int version = this.messages.size() - 1; version >= 0; version--) {
            String id = String.valueOf(version);
            if (done.contains(Entities.of(version))) {
                continue;
            }
            if (!applied.contains(id) && !dead.contains(id)) {
                lost.add(id);
            }
            if (!isPoison(version)) {
                done.add(Entities.of(version));
            }
        }
        return lost;
    }

    private boolean isPoison(int version) {
        return this.messages.get(version) == MessageKind.POISON;
    }
}
