package dev.idempotency.failure;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/** A service that a deserializer asks, such as a schema registry, and that does not answer. */
public final class UnavailableService {

    private static final List<Class<? extends Exception>> NO_ANSWER = List.of(
            RetriableException.class,
            InterruptException.class,
            WakeupException.class,
            SocketException.class,
            SocketTimeoutException.class,
            UnknownHostException.class,
            UnresolvedAddressException.class,
            HttpTimeoutException.class);

    private UnavailableService() {}

    /** Whether a record could not be read because somebody else did not answer. */
    public static boolean isCauseOf(@Nullable Throwable failure) {
        Causes causes = Causes.of(failure);
        return NO_ANSWER.stream().anyMatch(causes::contains);
    }
}
