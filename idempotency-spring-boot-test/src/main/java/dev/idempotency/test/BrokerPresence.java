package dev.idempotency.test;

import dev.idempotency.internal.kafka.BrokerConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Determines whether there is a broker: as configured, or else by whether one of the servers accepts a connection. */
final class BrokerPresence {

    private static final int PATIENCE_MILLIS = 1_000;

    private final @Nullable Boolean told;
    private final Map<Set<String>, Boolean> found = new ConcurrentHashMap<>();

    BrokerPresence(@Nullable Boolean told) {
        this.told = told;
    }

    boolean isPresent(BrokerConnection connection) {
        return (this.told != null)
                ? this.told
                : this.found.computeIfAbsent(
                        connection.servers(), servers -> servers.stream().anyMatch(BrokerPresence::accepts));
    }

    private static boolean accepts(String server) {
        String host = Utils.getHost(server);
        Integer port = Utils.getPort(server);
        if (host == null || port == null) {
            return false;
        }
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), PATIENCE_MILLIS);
            return true;
        } catch (IOException ex) {
            return false;
        }
    }
}
