package dev.idempotency.chaos.fault;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A proxy between consumers and a server that can cut connections or slow them down. */
public final class TcpProxy implements AutoCloseable {

    private static final int CHUNK = 8 * 1024;

    private final ServerSocket server;
    private final int targetPort;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private volatile boolean refusing;
    private volatile Duration delay = Duration.ZERO;

    private TcpProxy(ServerSocket server, int targetPort) {
        this.server = server;
        this.targetPort = targetPort;
    }

    /** Opens a port for the proxy of a server that must know it before it starts. */
    public static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    }

    /** Forwards connections from {@code server} to a local port. */
    public static TcpProxy start(ServerSocket server, int targetPort) {
        TcpProxy proxy = new TcpProxy(server, targetPort);
        daemon(proxy::accept);
        return proxy;
    }

    public int port() {
        return this.server.getLocalPort();
    }

    /** Cuts all connections, and refuses new ones until {@link #heal}. */
    public void cut() {
        this.refusing = true;
        this.sockets.forEach(TcpProxy::closeQuietly);
    }

    /** Delays all traffic until {@link #heal}. */
    public void slowDown(Duration delayPerChunk) {
        this.delay = delayPerChunk;
    }

    public void heal() {
        this.refusing = false;
        this.delay = Duration.ZERO;
    }

    private void accept() {
        while (!this.closed) {
            try {
                Socket client = this.server.accept();
                if (this.refusing) {
                    closeQuietly(client);
                    continue;
                }
                Socket target = new Socket(InetAddress.getLoopbackAddress(), this.targetPort);
                client.setTcpNoDelay(true);
                target.setTcpNoDelay(true);
                this.sockets.add(client);
                this.sockets.add(target);
                daemon(() -> pass(client, target));
                daemon(() -> pass(target, client));
            } catch (IOException ex) {
                // The server is down, or this proxy is closed: the client's connection is closed.
            }
        }
    }

    private void pass(Socket from, Socket to) {
        byte[] chunk = new byte[CHUNK];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                if (!this.delay.isZero()) {
                    Thread.sleep(this.delay.toMillis());
                }
                out.write(chunk, 0, length);
                out.flush();
            }
        } catch (IOException ex) {
            // One side has closed the connection, so close the other.
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } finally {
            this.sockets.remove(from);
            this.sockets.remove(to);
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException ex) {
            // Already closed.
        }
    }

    @Override
    public void close() throws IOException {
        this.closed = true;
        this.server.close();
        cut();
    }
}
