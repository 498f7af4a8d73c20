package dev.idempotency.failure;

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
        return follow(failure, depth, false);
    }

    /** The failure with all that it was caused by, each once: also what was suppressed, and what a database told besides. */
    static Causes withSuppressed(Throwable failure) {
        return follow(failure, LONGEST, true);
    }

    /** The failure with its causes and what a database told besides, as of a batch; without what was suppressed. */
    public static List<SQLException> ofDatabase(Throwable failure) {
        List<SQLException> errors = new ArrayList<>();
        for (Throwable cause : of(failure)) {
            Throwable next = cause;
            while (next instanceof SQLException error && !errors.contains(error) && errors.size() < LONGEST) {
                errors.add(error);
                next = error.getNextException();
            }
        }
        return errors;
    }

    private static Causes follow(@Nullable Throwable failure, int depth, boolean suppressed) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Throwable> readable = new ArrayList<>();
        boolean complete = true;
        Deque<Throwable> open = new ArrayDeque<>();
        addIfPresent(open, failure);
        while (!open.isEmpty() && readable.size() < depth) {
            Throwable next = open.remove();
            if (!seen.add(next)) {
                complete = false;
                continue;
            }
            readable.add(next);
            try {
                addIfPresent(open, next.getCause());
            } catch (RuntimeException | StackOverflowError ex) {
                complete = false;
            }
            if (suppressed) {
                open.addAll(Arrays.asList(next.getSuppressed()));
                addIfPresent(open, (next instanceof SQLException sql) ? sql.getNextException() : null);
            }
        }
        return new Causes(readable, complete && open.isEmpty());
    }

    private static void addIfPresent(Deque<Throwable> open, @Nullable Throwable throwable) {
        if (throwable != null) {
            open.add(throwable);
        }
    }

    @Override
    public Iterator<Throwable> iterator() {
        return this.readable.iterator();
    }

    boolean contains(Class<? extends Throwable> type) {
        return find(type) != null;
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
