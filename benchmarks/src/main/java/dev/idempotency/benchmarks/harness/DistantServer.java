package dev.idempotency.benchmarks.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A proxy that delays the traffic of a local server, as if it were on another machine. */
final class DistantServer implements AutoCloseable {

    private final ServerSocket entrance;
    private final int port;
    private final long delayNanos;

    /** {@code roundTripMicros} is the minimum additional time of a round trip. */
    DistantServer(int port, int roundTripMicros) {
        this.port = port;
        this.delayNanos = TimeUnit.MICROSECONDS.toNanos(roundTripMicros) / 2;
        try {
            this.entrance = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start(this::accept);
    }

    int port() {
        return this.entrance.getLocalPort();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = this.entrance.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), this.port);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            start(() -> pass(client, server));
            start(() -> pass(server, client));
        }
    }

    private void pass(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[1 << 16];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                long due = System.nanoTime() + this.delayNanos;
                for (long left = this.delayNanos; left > 0; left = due - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                out.write(buffer, 0, read);
            }
        }
    }

    /** Starts a transfer, which ends with an exception when either side closes the connection. */
    private static void start(Transfer transfer) {
        Thread thread = new Thread(
                () -> {
                    try {
                        transfer.run();
                    } catch (IOException ex) {
                        // Closed.
                    }
                },
                "distance");
        thread.setDaemon(true);
        thread.start();
    }

    private interface Transfer {

        void run() throws IOException;
    }

    @Override
    public void close() throws IOException {
        this.entrance.close();
    }
}
