package dev.idempotency.failure;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
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

    private final List<Throwable> all = new ArrayList<>();

    private Causes(@Nullable Throwable failure, boolean suppressed) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>();
        addIfPresent(open, failure);
        while (!open.isEmpty()) {
            Throwable next = open.remove();
            if (seen.add(next)) {
                this.all.add(next);
                addIfPresent(open, next.getCause());
                if (suppressed) {
                    open.addAll(Arrays.asList(next.getSuppressed()));
                    addIfPresent(open, (next instanceof SQLException sql) ? sql.getNextException() : null);
                }
            }
        }
    }

    private static void addIfPresent(Deque<Throwable> open, @Nullable Throwable throwable) {
        if (throwable != null) {
            open.add(throwable);
        }
    }

    /** The failure itself and its causes, none if there is no failure. */
    public static Causes of(@Nullable Throwable failure) {
        return new Causes(failure, false);
    }

    /** The same with suppressed exceptions, and with the next ones of a database. */
    static Causes withSuppressed(Throwable failure) {
        return new Causes(failure, true);
    }

    /** The database's exceptions among the causes, with the next ones, as of a batch. */
    public static List<SQLException> ofDatabase(Throwable failure) {
        List<SQLException> errors = new ArrayList<>();
        for (Throwable cause : of(failure)) {
            Throwable next = cause;
            while (next instanceof SQLException error && !errors.contains(error)) {
                errors.add(error);
                next = error.getNextException();
            }
        }
        return errors;
    }

    @Override
    public Iterator<Throwable> iterator() {
        return this.all.iterator();
    }

    /** Whether a record could not be read because a service did not answer. */
    public boolean tellOfUnavailableService() {
        return NO_ANSWER.stream().anyMatch(this::contains);
    }

    boolean contains(Class<? extends Throwable> type) {
        return find(type) != null;
    }

    /** The first of a type, or {@code null}. */
    <T extends Throwable> @Nullable T find(Class<T> type) {
        return this.all.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    public Throwable deepest() {
        return this.all.get(this.all.size() - 1);
    }
}
