package dev.idempotency.internal.event;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.ConsumerDescription;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The consumers of this application whose listeners have been found: all of them once it has started. */
@FunctionalInterface
public interface ConsumerRegistry {

    /** The consumers of all registries, which are looked up at each call: they may be created later, or never. */
    static ConsumerRegistry of(Supplier<Stream<ConsumerRegistry>> registries) {
        return () -> registries
                .get()
                .flatMap(registry -> registry.consumers().stream())
                .toList();
    }

    /** Their descriptions, one per listener and container. */
    Collection<ConsumerDescription> consumers();

    /** The consumers with this strategy. */
    default ConsumerRegistry recognisedBy(DeduplicationStrategy strategy) {
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
