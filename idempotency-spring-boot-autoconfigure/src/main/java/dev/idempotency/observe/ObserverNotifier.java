package dev.idempotency.observe;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ReflectionUtils;

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

    /** The observers that the factories give to a consumer, as one that cannot break a message. */
    public static ConsumerObserver observersOf(List<IdempotencyObserver> factories, ConsumerDescription consumer) {
        List<ConsumerObserver> observers = new ArrayList<>();
        String reassurance =
                "it does not observe consumer '%s', whose messages are not affected".formatted(consumer.name());
        new ObserverNotifier<>(factories, reassurance)
                .tell(factory -> observers.add(Objects.requireNonNull(factory.observe(consumer), "No observer")));
        observers.removeIf(observer -> observer == ConsumerObserver.NO_OP);
        if (observers.isEmpty()) {
            return ConsumerObserver.NO_OP;
        }
        ObserverNotifier<ConsumerObserver> all = new ObserverNotifier<>(observers, "messages are not affected");
        return (ConsumerObserver) Proxy.newProxyInstance(
                ConsumerObserver.class.getClassLoader(),
                new Class<?>[] {ConsumerObserver.class},
                (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return ReflectionUtils.invokeMethod(method, all, arguments);
                    }
                    all.tell(observer -> ReflectionUtils.invokeMethod(method, observer, arguments));
                    return null;
                });
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
