package dev.idempotency.benchmarks.harness;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * A separate PostgreSQL server with the requested durability.
 *
 * <p>Checkpoints come when {@link BenchmarkApplication} asks for one, before listeners take turns, and not while they do.
 */
public final class BenchmarkDatabase implements AutoCloseable {

    private final EmbeddedPostgres server;
    private final boolean ring;

    private BenchmarkDatabase(EmbeddedPostgres server, boolean ring) {
        this.server = server;
        this.ring = ring;
    }

    /**
     * Starts a server.
     *
     * @param ring whether ids contain their time and are remembered in a ring of tables
     * @param flushMicros how long each commit waits before it is flushed, as if the disk were slower
     */
    public static BenchmarkDatabase start(Durability durability, boolean ring, int flushMicros) {
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", durability.setting())
                    .setServerConfig("synchronous_commit", durability.setting())
                    .setServerConfig("commit_delay", String.valueOf(flushMicros))
                    .setServerConfig("commit_siblings", "0")
                    .setServerConfig("full_page_writes", "on")
                    .setServerConfig("shared_buffers", "512MB")
                    .setServerConfig("max_wal_size", "8GB")
                    .setServerConfig("checkpoint_timeout", "1h")
                    .setPGStartupWait(Duration.ofMinutes(2))
                    .start();
            return new BenchmarkDatabase(server, ring);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    boolean isRing() {
        return this.ring;
    }

    public String jdbcUrl() {
        return this.server.getJdbcUrl("postgres", "postgres");
    }

    @Override
    public void close() {
        try {
            this.server.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
