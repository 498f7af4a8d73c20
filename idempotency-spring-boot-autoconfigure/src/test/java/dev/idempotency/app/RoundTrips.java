package dev.idempotency.app;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * A proxy between an application and PostgreSQL that counts round trips: the server ends each response with "ready for
 * query", however many statements were sent together. The response to {@code BEGIN} does not count, as the driver sends it
 * together with the first statement.
 */
public final class RoundTrips implements AutoCloseable {

    private static final byte COMMAND_COMPLETE = 'C';
    private static final byte READY_FOR_QUERY = 'Z';

    private final AtomicInteger count = new AtomicInteger();
    private final AtomicBoolean cutting = new AtomicBoolean();
    private final ExecutorService threads = Executors.newCachedThreadPool(new CustomizableThreadFactory("round-trips"));
    private final URI server;
    private final ServerSocket door;

    public RoundTrips(String jdbcUrl) {
        this.server = URI.create(jdbcUrl.substring("jdbc:".length()));
        try {
            this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        this.threads.submit(this::welcome);
    }

    /** The URL of this proxy. It turns encryption off, so that responses can be read. */
    public String jdbcUrl() {
        String query = (this.server.getQuery() != null) ? this.server.getQuery() + "&" : "";
        return "jdbc:postgresql://localhost:%d%s?%ssslmode=disable&gssEncMode=disable"
                .formatted(this.door.getLocalPort(), this.server.getPath(), query);
    }

    public int count() {
        return this.count.get();
    }

    /** Closes the connection when the server has confirmed the next commit, before the application receives the response. */
    public void cutNextCommit() {
        this.cutting.set(true);
    }

    public boolean isCutting() {
        return this.cutting.get();
    }

    private Void welcome() throws IOException {
        while (true) {
            Socket client = this.door.accept();
            int port = (this.server.getPort() > 0) ? this.server.getPort() : 5432;
            Socket upstream = new Socket(this.server.getHost(), port);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            this.threads.submit(() -> client.getInputStream().transferTo(upstream.getOutputStream()));
            this.threads.submit(() -> {
                try (client;
                        upstream) {
                    return answer(
                            new DataInputStream(upstream.getInputStream()),
                            new DataOutputStream(client.getOutputStream()));
                }
            });
        }
    }

    private Void answer(DataInputStream from, DataOutputStream to) throws IOException {
        String command = "";
        while (true) {
            byte type = from.readByte();
            int length = from.readInt();
            byte[] content = from.readNBytes(length - Integer.BYTES);
            if (type == COMMAND_COMPLETE) {
                command = new String(content, StandardCharsets.US_ASCII);
                if (command.startsWith("COMMIT") && this.cutting.compareAndSet(true, false)) {
                    return null;
                }
            } else if (type == READY_FOR_QUERY && !command.startsWith("BEGIN")) {
                this.count.incrementAndGet();
            }
            to.writeByte(type);
            to.writeInt(length);
            to.write(content);
            to.flush();
        }
    }

    @Override
    public void close() {
        try {
            this.door.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
