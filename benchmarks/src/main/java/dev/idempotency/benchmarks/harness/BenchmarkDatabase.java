package dev.idempotency.benchmarks.harness;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A separate PostgreSQL server with the requested durability.
 *
 * <p>Checkpoints happen when {@link BenchmarkApplication} requests one before listeners take turns, not during turns.
 */
public final class BenchmarkDatabase implements AutoCloseable {

    private final EmbeddedPostgres server;
    private final @Nullable DistantServer distant;
    private final boolean ring;

    private BenchmarkDatabase(EmbeddedPostgres server, boolean ring, int distanceMicros) {
        this.server = server;
        this.ring = ring;
        this.distant = (distanceMicros > 0) ? new DistantServer(server.getPort(), distanceMicros) : null;
    }

    /**
     * Starts a server.
     *
     * @param ring whether ids contain their time and are remembered in a ring of tables
     * @param flushMicros the time that each commit waits before it is flushed, to simulate a slower disk
     * @param distanceMicros the additional time of each round trip, to simulate a server on another machine
     */
    public static BenchmarkDatabase start(Durability durability, boolean ring, int flushMicros, int distanceMicros) {
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
            return new BenchmarkDatabase(server, ring, distanceMicros);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    boolean isRing() {
        return this.ring;
    }

    public String jdbcUrl() {
        String url = this.server.getJdbcUrl("postgres", "postgres");
        return (this.distant != null)
                ? url.replace(":" + this.server.getPort() + "/", ":" + this.distant.port() + "/")
                : url;
    }

    /** Measures the average time of a round trip. */
    public long roundTripMicros() {
        int count = 2_000;
        try (Connection connection = DriverManager.getConnection(jdbcUrl());
                Statement statement = connection.createStatement()) {
            long start = 0;
            for (int i = -count / 2; i < count; i++) {
                if (i == 0) {
                    start = System.nanoTime();
                }
                statement.execute("select 1");
            }
            return (System.nanoTime() - start) / 1_000 / count;
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void close() {
        try {
            if (this.distant != null) {
                this.distant.close();
            }
            this.server.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
