package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.BrokerConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the brokers of the listeners about their topics, on a thread of its own and for a limited time.
 *
 * <p>It only ever logs. A broker that does not answer, or refuses to, is left alone.
 */
final class BrokerChecks {

    private static final Logger logger = LoggerFactory.getLogger(BrokerChecks.class);

    private final Duration timeout;
    private final Supplier<Findings> findings;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    BrokerChecks(Duration timeout, Supplier<Findings> findings) {
        this.timeout = timeout;
        this.findings = findings;
    }

    void start(List<ProtectedListener> listeners) {
        if (listeners.isEmpty() || this.timeout.isZero()) {
            return;
        }
        Thread thread = new Thread(() -> run(listeners), "idempotency-broker-checks");
        thread.setDaemon(true);
        this.threads.add(thread);
        thread.start();
    }

    void stop() {
        this.threads.forEach(Thread::interrupt);
    }

    private void run(List<ProtectedListener> listeners) {
        try {
            listeners.stream()
                    .collect(Collectors.groupingBy(listener -> BrokerConnection.of(listener.container())))
                    .forEach(this::check);
        } finally {
            this.threads.remove(Thread.currentThread());
        }
    }

    private void check(BrokerConnection connection, List<ProtectedListener> listeners) {
        Admin admin = null;
        try {
            admin = Admin.create(settings(connection));
            Findings found = this.findings.get();
            new TopicChecks(admin, this.timeout).check(listeners, found);
            found.report();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (Exception ex) {
            logger.debug("The topics could not be checked", ex);
        } finally {
            if (admin != null) {
                admin.close(Duration.ZERO);
            }
        }
    }

    private Map<String, Object> settings(BrokerConnection connection) {
        Map<String, Object> settings = new HashMap<>(connection.settings());
        int millis = (int) Math.min(this.timeout.toMillis(), Integer.MAX_VALUE);
        settings.put(AdminClientConfig.CLIENT_ID_CONFIG, "idempotency-broker-checks");
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        settings.put(AdminClientConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        settings.put(AdminClientConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        return settings;
    }
}
