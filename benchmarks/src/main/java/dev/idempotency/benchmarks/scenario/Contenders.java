package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import java.util.Collection;
import java.util.List;

/** What an application needs for several contenders. */
final class Contenders {

    private Contenders() {}

    static List<? extends Class<?>> classes(Collection<Contender> contenders) {
        return contenders.stream()
                .flatMap(contender -> contender.classes().stream())
                .distinct()
                .toList();
    }
}
