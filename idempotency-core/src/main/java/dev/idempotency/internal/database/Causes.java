package dev.idempotency.internal.database;

import java.sql.SQLException;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A failure and its causes, each once: they may form a circle. */
public final class Causes implements Iterable<Throwable> {

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
    public static Causes withSuppressed(Throwable failure) {
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

    public boolean contains(Class<? extends Throwable> type) {
        return find(type) != null;
    }

    /** The first of a type, or {@code null}. */
    public <T extends Throwable> @Nullable T find(Class<T> type) {
        return all(type).findFirst().orElse(null);
    }

    public <T extends Throwable> Stream<T> all(Class<T> type) {
        return this.all.stream().filter(type::isInstance).map(type::cast);
    }

    /** The last of the causes that the database gave, or else of all: its driver says more than its socket. */
    public Throwable deepest() {
        return Stream.concat(this.all.stream(), all(SQLException.class))
                .reduce((first, second) -> second)
                .orElseThrow();
    }
}
