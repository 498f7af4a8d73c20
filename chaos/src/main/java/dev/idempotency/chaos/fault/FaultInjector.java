package dev.idempotency.chaos.fault;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Injects and logs one fault after the other, chosen by the seed. */
public final class FaultInjector {

    private final Servers servers;
    private final List<ConsumerProcess> consumers;
    private final Set<Fault> kinds;
    private final Random random;
    private final PrintWriter log;
    private final Map<Fault, Integer> injected = new EnumMap<>(Fault.class);

    public FaultInjector(
            Servers servers, List<ConsumerProcess> consumers, Set<Fault> kinds, long seed, PrintWriter log) {
        this.kinds = kinds;
        this.servers = servers;
        this.consumers = consumers;
        this.random = new Random(seed);
        this.log = log;
    }

    /** Restarts consumers that have exited, then injects the next fault. */
    public Fault injectNext() throws InterruptedException {
        for (ConsumerProcess consumer : this.consumers) {
            if (!consumer.isAlive()) {
                this.log.printf("%s %s had ended, is started again%n", Instant.now(), consumer.name());
                consumer.start();
            }
        }
        Fault fault = Fault.pick(this.kinds, this.random);
        ConsumerProcess victim = this.consumers.get(this.random.nextInt(this.consumers.size()));
        this.log.printf("%s %s, if it is about a consumer: %s%n", Instant.now(), fault, victim.name());
        this.log.flush();
        fault.inject(this.servers, victim, this.random);
        this.injected.merge(fault, 1, Integer::sum);
        return fault;
    }

    /** The number of injected faults by kind. */
    public Map<Fault, Integer> injected() {
        return this.injected;
    }

    /** Repairs all connections, and resumes or restarts all consumers. */
    public void heal() throws IOException {
        this.servers.databaseProxy().heal();
        this.servers.brokerProxy().heal();
        this.consumers.forEach(ConsumerProcess::resume);
        this.consumers.stream().filter(consumer -> !consumer.isAlive()).forEach(ConsumerProcess::start);
    }
}
