package dev.idempotency.failure;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/** A failure and its causes, each once: they may form a circle. */
public final class Causes implements Iterable<Throwable> {

    /** Thrown if a service that a deserializer calls, such as a schema registry, does not answer. */
    private static final List<Class<? extends Exception>> NO_ANSWER = List.of(
            RetriableException.class,
            InterruptException.class,
            WakeupException.class,
            SocketException.class,
            SocketTimeoutException.class,
            UnknownHostException.class,
            UnresolvedAddressException.class,
            HttpTimeoutException.class);

    private final Set<Throwable> all = new LinkedHashSet<>();

    private Causes(@Nullable Throwable failure, boolean suppressed) {
        add(failure, suppressed);
    }

    private void add(@Nullable Throwable failure, boolean suppressed) {
        if (failure == null || !this.all.add(failure)) {
            return;
        }
        add(failure.getCause(), suppressed);
        if (suppressed) {
            for (Throwable each : failure.getSuppressed()) {
                add(each, true);
            }
        }
        if (failure instanceof SQLException error) {
            add(error.getNextException(), suppressed);
        }
    }

    /**
     * Whether nothing can be relied upon after this error, such as {@code OutOfMemoryError}: it stops its container. All
     * others, such as stack overflows, are the message's failure. Callers of the application's code catch any
     * {@code Throwable}: Kotlin throws checked exceptions without declaring them.
     */
    public static boolean isFatal(Throwable failure) {
        return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError);
    }

    public static void rethrowIfFatal(Throwable failure) {
        if (isFatal(failure)) {
            throw (VirtualMachineError) failure;
        }
    }

    /** The failure itself and its causes, with the next ones of a database; none if there is no failure. */
    public static Causes of(@Nullable Throwable failure) {
        return new Causes(failure, false);
    }

    /** The same with suppressed exceptions. */
    static Causes withSuppressed(Throwable failure) {
        return new Causes(failure, true);
    }

    /** The database's exceptions among the causes. */
    public static List<SQLException> ofDatabase(Throwable failure) {
        return of(failure).all(SQLException.class).toList();
    }

    @Override
    public Iterator<Throwable> iterator() {
        return this.all.iterator();
    }

    /** Whether a record could not be read because a service did not answer. */
    public boolean tellOfUnavailableService() {
        return NO_ANSWER.stream().anyMatch(this::contains);
    }

    public boolean contains(Class<? extends Throwable> type) {
        return find(type) != null;
    }

    /** The first of a type, or {@code null}. */
    <T extends Throwable> @Nullable T find(Class<T> type) {
        return all(type).findFirst().orElse(null);
    }

    <T extends Throwable> Stream<T> all(Class<T> type) {
        return this.all.stream().filter(type::isInstance).map(type::cast);
    }

    /** The last of the causes. */
    public Throwable deepest() {
        return this.all.stream().reduce((first, second) -> second).orElseThrow();
    }
}
