package dev.idempotency.chaos.consumer;

import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.retention.RingCleanup;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Empties the slots in which messages are being claimed, far more often than any cleanup: expired rows of another consumer
 * are put into a slot, which is then emptied. The claims of listeners have not expired, and must be put back.
 */
@Component
@Profile("ring")
class SlotEmptier implements SmartLifecycle, Runnable {

    /** Inserts enough rows for a slot to be emptied. */
    private static final String FILL = """
            insert into idempotency_processed_%d
                (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            select 'filler', '%s/' || number, current_timestamp - interval '1 day', 'filler', 0, number
            from generate_series(1, 12000) as number
            """;

    static final String TABLE = "create table if not exists emptied (slot integer not null)";

    private static final Logger logger = LoggerFactory.getLogger(SlotEmptier.class);

    private final JdbcTemplate jdbc;
    private final RingCleanup cleanup;
    private final String instance;
    private volatile boolean running;

    SlotEmptier(JdbcTemplate jdbc, IdempotencyDatabase database, Environment environment) {
        this.jdbc = jdbc;
        this.cleanup = new RingCleanup(database, Map::of, null);
        this.instance = environment.getRequiredProperty("chaos.instance");
    }

    @Override
    public void run() {
        while (this.running) {
            int slot = ThreadLocalRandom.current().nextInt(8);
            try {
                this.jdbc.update(FILL.formatted(slot, this.instance + "/" + System.nanoTime()));
                if (this.cleanup.empty(slot, consumer -> consumer.equals("filler") ? Instant.now() : Instant.EPOCH)) {
                    this.jdbc.update("insert into emptied values (?)", slot);
                }
                TimeUnit.MILLISECONDS.sleep(200);
            } catch (RuntimeException ex) {
                logger.debug("Slot {} was not emptied", slot, ex);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    @Override
    public void start() {
        this.running = true;
        Thread thread = new Thread(this, "slots");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void stop() {
        this.running = false;
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }
}
