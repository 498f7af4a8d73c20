package dev.idempotency.observe;

import dev.idempotency.Strategy;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The consumers of this application, as far as its listeners have been found by now: all of them once it has started.
 */
@FunctionalInterface
public interface ConsumerRegistry {

    /** Those of registries that are looked up whenever they are asked: they may come later, or never. */
    static ConsumerRegistry of(Supplier<Stream<ConsumerRegistry>> registries) {
        return () -> registries
                .get()
                .flatMap(registry -> registry.consumers().stream())
                .toList();
    }

    /** What is known of them; of one with several listeners or containers, as often as it has them. */
    Collection<ConsumerDescription> consumers();

    /** Those of them whose messages are recognised in one way. */
    default ConsumerRegistry recognisedBy(Strategy strategy) {
        return () -> consumers().stream()
                .filter(consumer -> consumer.strategy() == strategy)
                .toList();
    }

    /** Their names. */
    default Set<String> names() {
        return consumers().stream().map(ConsumerDescription::name).collect(Collectors.toSet());
    }

    /** How long each remembers, by its name; whichever of its listeners remembers longest is right for all. */
    default Map<String, Duration> retentions() {
        return consumers().stream()
                .collect(Collectors.toMap(
                        ConsumerDescription::name,
                        ConsumerDescription::retention,
                        BinaryOperator.maxBy(Duration::compareTo)));
    }
}
