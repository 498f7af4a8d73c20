package dev.idempotency.retention;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Several observers as one, none of which can break the cleanup. */
public final class CompositeCleanupObserver implements CleanupObserver {

    private static final Logger logger = LoggerFactory.getLogger(CompositeCleanupObserver.class);

    private final List<CleanupObserver> observers;

    public CompositeCleanupObserver(List<CleanupObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void cleanupRan(Duration took, long deleted, boolean keepsUp) {
        tell(observer -> observer.cleanupRan(took, deleted, keepsUp));
    }

    @Override
    public void cleanupFailed(RuntimeException reason) {
        tell(observer -> observer.cleanupFailed(reason));
    }

    private void tell(Consumer<CleanupObserver> news) {
        for (CleanupObserver observer : this.observers) {
            try {
                news.accept(observer);
            } catch (RuntimeException ex) {
                logger.warn("{} failed and was ignored: the cleanup is not affected", observer, ex);
            }
        }
    }
}
