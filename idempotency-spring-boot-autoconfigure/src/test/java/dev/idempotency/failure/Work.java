package dev.idempotency.failure;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.app.Effects;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the listeners of these tests do: a payload's first word says how it fares. */
class Work {

    private static final String RAISE = "do $$ begin raise exception 'for the test' using errcode = '%s'; end $$";

    private final Effects effects;
    private final JdbcTemplate jdbc;
    private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
    private final List<String> ids = new CopyOnWriteArrayList<>();
    private final Map<String, List<String>> keys = new ConcurrentHashMap<>();

    Work(Effects effects, JdbcTemplate jdbc) {
        this.effects = effects;
        this.jdbc = jdbc;
    }

    /**
     * Payloads begin with {@code poison}, {@code flaky}, {@code sqlstate:40001} (for five attempts), {@code tangled}
     * (first it fails by itself, then the database does, five times), {@code verbose} (with an exception that is larger
     * than any message may be), {@code slow}, or anything else.
     */
    void on(String payload, int index) {
        this.ids.add(IdempotencyContext.current().messageId(index).value());
        int attempt = this.attempts
                .computeIfAbsent(payload, key -> new AtomicInteger())
                .incrementAndGet();
        this.keys
                .computeIfAbsent(payload, key -> new CopyOnWriteArrayList<>())
                .add(IdempotencyContext.current().deriveKey(index, "email"));
        this.effects.happen(payload);
        String kind = payload.split(" ")[0];
        if (kind.equals("poison") || (kind.equals("flaky") && attempt == 1)) {
            throw new IllegalStateException(payload);
        }
        if (kind.equals("verbose")) {
            throw new IllegalStateException(payload + ".".repeat(2_000_000));
        }
        if (kind.startsWith("sqlstate:") && attempt <= 5) {
            this.jdbc.execute(RAISE.formatted(kind.substring("sqlstate:".length())));
        }
        if (kind.equals("tangled") && attempt <= 6) {
            if (attempt == 1) {
                throw new IllegalStateException(payload);
            }
            this.jdbc.execute(RAISE.formatted("08006"));
        }
        if (kind.equals("slow")) {
            this.effects.pause(Duration.ofMillis(200));
        }
    }

    /** The ids of all messages that listeners were called with. */
    List<String> ids() {
        return List.copyOf(this.ids);
    }

    int attempts(String payload) {
        AtomicInteger count = this.attempts.get(payload);
        return (count != null) ? count.get() : 0;
    }

    List<String> keys(String payload) {
        return this.keys.getOrDefault(payload, List.of());
    }
}
