package dev.idempotency.observe;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies observers. If one of them throws, that is logged, and the others are notified all the same.
 *
 * @param <T> the type of the observers
 */
public final class ObserverNotifier<T> {

    private static final Logger logger = LoggerFactory.getLogger(ObserverNotifier.class);

    private final List<T> observers;
    private final String reassurance;

    /**
     * Notifies some observers.
     *
     * @param reassurance what the log says of the consequences of a failed observer
     */
    public ObserverNotifier(List<? extends T> observers, String reassurance) {
        this.observers = List.copyOf(observers);
        this.reassurance = reassurance;
    }

    /** Tells each of them. */
    public void tell(Consumer<? super T> news) {
        for (T observer : this.observers) {
            try {
                news.accept(observer);
            } catch (Throwable ex) {
                if (ex instanceof VirtualMachineError fatal && !(ex instanceof StackOverflowError)) {
                    throw fatal;
                }
                logger.warn("{} failed and was ignored: {}", observer.getClass().getName(), this.reassurance, ex);
            }
        }
    }
}
