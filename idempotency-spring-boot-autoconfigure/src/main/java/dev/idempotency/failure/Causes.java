package dev.idempotency.failure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/**
 * A failure and its causes, as far as they can be followed: they may go round in a circle, never come to an end, or
 * refuse to be read. Whoever follows them with a loop or a recursion of his own then hangs, or overflows the stack.
 */
public final class Causes implements Iterable<Throwable> {

    /** Spring Kafka's classification looks at each cause once more for every cause above it. */
    private static final int MAX_DEPTH = 16;

    /** Whoever looks for something has not found it here. */
    private static final int LONGEST = 1_000;

    private final List<Throwable> readable;
    private final boolean complete;

    private Causes(List<Throwable> readable, boolean complete) {
        this.readable = readable;
        this.complete = complete;
    }

    /** The failure itself and its causes, none if there is no failure. */
    public static Causes of(@Nullable Throwable failure) {
        return of(failure, LONGEST);
    }

    static Causes of(@Nullable Throwable failure, int depth) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Throwable> readable = new ArrayList<>();
        Throwable next = failure;
        while (next != null) {
            if (readable.size() == depth || !seen.add(next)) {
                return new Causes(readable, false);
            }
            readable.add(next);
            try {
                next = next.getCause();
            } catch (RuntimeException | StackOverflowError ex) {
                return new Causes(readable, false);
            }
        }
        return new Causes(readable, true);
    }

    @Override
    public Iterator<Throwable> iterator() {
        return this.readable.iterator();
    }

    /** The first of a type, or {@code null}. */
    <T extends Throwable> @Nullable T find(Class<T> type) {
        return this.readable.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    /** The last that can be read. */
    public Throwable deepest() {
        return this.readable.get(this.readable.size() - 1);
    }

    /** The failure, or, if its causes cannot be followed to an end, one in its place that tells the same without them. */
    static Exception makeFinite(Exception failure) {
        Causes causes = of(failure, MAX_DEPTH);
        if (causes.complete) {
            return failure;
        }
        Throwable blamed = causes.readable.stream()
                .filter(cause -> !(cause instanceof ListenerExecutionFailedException)
                        && !(cause instanceof BatchListenerFailedException))
                .findFirst()
                .orElse(failure);
        ListenerExecutionFailedException standIn =
                new ListenerExecutionFailedException(text(blamed) + " (with causes that have no end)");
        standIn.setStackTrace(blamed.getStackTrace());
        BatchListenerFailedException named = of(failure).find(BatchListenerFailedException.class);
        if (named == null) {
            return standIn;
        }
        return (named.getRecord() != null)
                ? new BatchListenerFailedException(text(named), standIn, named.getRecord())
                : new BatchListenerFailedException(text(named), standIn, named.getIndex());
    }

    /** The text of a failure: its message may be made of that of its causes. */
    private static String text(Throwable failure) {
        try {
            return failure.toString();
        } catch (RuntimeException | StackOverflowError ex) {
            return failure.getClass().getName();
        }
    }
}
