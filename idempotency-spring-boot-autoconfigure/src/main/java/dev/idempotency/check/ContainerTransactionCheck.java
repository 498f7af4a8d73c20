package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/** Whether the container opens transactions of its own around the listener. */
final class ContainerTransactionCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Report report) {
        ContainerProperties properties = listener.container().getContainerProperties();
        PlatformTransactionManager manager = transactionManager(properties);
        if (manager != null) {
            report.add(
                    Check.CONTAINER_TRANSACTION,
                    "Its container has the transaction manager %s."
                            .formatted(manager.getClass().getSimpleName()),
                    "Remove setTransactionManager(…) from the container properties: @IdempotentListener opens the"
                            + " transaction.");
        }
        if (Arrays.stream(properties.getAdviceChain()).anyMatch(TransactionInterceptor.class::isInstance)) {
            report.add(
                    Check.CONTAINER_TRANSACTION,
                    "Its container has a TransactionInterceptor in its advice chain.",
                    "Remove it from setAdviceChain(…): @IdempotentListener opens the transaction.");
        }
    }

    @SuppressWarnings("removal") // Still in force where it is set.
    private static @Nullable PlatformTransactionManager transactionManager(ContainerProperties properties) {
        return properties.getTransactionManager();
    }
}
