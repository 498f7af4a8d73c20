package dev.idempotency.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL server for one test, which can be stopped and restarted with its data and on the same port.
 *
 * <p>Always an embedded one, with {@code synchronous_commit} on: committed data must survive.
 */
public final class TestPostgresServer implements AutoCloseable {

    /** Long enough for a busy machine, and for the recovery after a hard stop. */
    static final Duration STARTUP = Duration.ofMinutes(2);

    private final Path dataDirectory;
    private final int port;
    private EmbeddedPostgres postgres;

    private final boolean durable;

    private TestPostgresServer(Path dataDirectory, int port, boolean durable) {
        this.dataDirectory = dataDirectory;
        this.port = port;
        this.durable = durable;
        this.postgres = launch();
    }

    /** Starts a server with an empty database. */
    public static TestPostgresServer start() {
        return start(false);
    }

    /** Starts a server that waits for the disk ({@code fsync}), as in production. */
    public static TestPostgresServer startDurable() {
        return start(true);
    }

    private static TestPostgresServer start(boolean durable) {
        try {
            return new TestPostgresServer(Files.createTempDirectory("postgres"), freePort(), durable);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return this.port;
    }

    /** Returns the JDBC URL, including user and password. */
    public String jdbcUrl() {
        return this.postgres.getJdbcUrl("postgres", "postgres");
    }

    /** Stops the server like {@code pg_ctl stop -m immediate}: without a checkpoint, and without waiting for transactions. */
    public void stopImmediately() {
        try {
            String pid = Files.readAllLines(this.dataDirectory.resolve("postmaster.pid"))
                    .get(0)
                    .trim();
            ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
            new ProcessBuilder("kill", "-QUIT", pid).inheritIO().start().waitFor();
            postmaster.onExit().get(30, TimeUnit.SECONDS);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        } catch (ExecutionException | TimeoutException ex) {
            throw new IllegalStateException("PostgreSQL did not stop", ex);
        }
    }

    /** Restarts the stopped server, which recovers all committed data. */
    public void startAgain() {
        closeQuietly();
        this.postgres = launch();
    }

    private EmbeddedPostgres launch() {
        try {
            return EmbeddedPostgres.builder()
                    .setDataDirectory(this.dataDirectory)
                    .setCleanDataDirectory(false)
                    .setPort(this.port)
                    .setPGStartupWait(STARTUP)
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("fsync", this.durable ? "on" : "off")
                    .start();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void closeQuietly() {
        try {
            this.postgres.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        closeQuietly();
        try {
            FileSystemUtils.deleteRecursively(this.dataDirectory);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
