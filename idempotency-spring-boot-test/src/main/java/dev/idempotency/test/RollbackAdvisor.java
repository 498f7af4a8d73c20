package dev.idempotency.test;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.internal.listener.IdempotentListenerAdvisor;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Fails a protected listener's transaction once for each message, at its commit or after a step, if the {@link ContainerRun}
 * requires it.
 *
 * <p>The failure looks like a deadlock, so that the message is redelivered whatever its error handler does.
 */
final class RollbackAdvisor extends StaticMethodMatcherPointcutAdvisor {

    @Serial
    private static final long serialVersionUID = 1L;

    private static final IdempotentListenerAdvisor CLAIMS = new IdempotentListenerAdvisor();

    /** Shared by all contexts, so that they share proxy classes. */
    static final RollbackAdvisor INSTANCE = new RollbackAdvisor();

    private RollbackAdvisor() {
        super((MethodInterceptor) RollbackAdvisor::proceed);
    }

    /** Matches where messages are claimed: proxies of other classes would fail, or hide findings of start-up checks. */
    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return CLAIMS.matches(method, targetClass);
    }

    private static @Nullable Object proceed(MethodInvocation invocation) throws Throwable {
        ContainerRun run = ContainerRun.current();
        String step = (run != null) ? run.crashStep() : null;
        if (run != null && step != null) {
            return proceedUntil(step, invocation, run);
        }
        Object result = invocation.proceed();
        if (run != null && run.rollsBack()) {
            IdempotencyContext context = IdempotencyContext.current();
            Set<MessageId> messages = IntStream.range(0, context.size())
                    .mapToObj(context::messageId)
                    .collect(Collectors.toSet());
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void beforeCommit(boolean readOnly) {
                    if (!run.haveBeenRolledBack(messages)) {
                        throw new CannotAcquireLockException("Rolled back by withRollbackAfterWork()");
                    }
                }

                /** Also called for other messages of the same transaction. */
                @Override
                public void afterCompletion(int status) {
                    if (status != STATUS_COMMITTED) {
                        run.rolledBack(messages);
                    }
                }
            });
        }
        return result;
    }

    /** Interrupts the work of each message once, after this step was recorded. */
    private static @Nullable Object proceedUntil(String step, MethodInvocation invocation, ContainerRun run)
            throws Throwable {
        AtomicReference<@Nullable CannotAcquireLockException> crash = new AtomicReference<>();
        IdempotencyContextHolder.Scope context =
                IdempotencyContextHolder.decorateSteps(steps -> (id, name, type, call) -> {
                    Object result = steps.run(id, name, type, call);
                    if (name.equals(step) && !run.haveBeenRolledBack(Set.of(id))) {
                        run.rolledBack(Set.of(id));
                        crash.set(
                                new CannotAcquireLockException("Crashed by crashingAfterStep(\"%s\")".formatted(name)));
                        throw crash.get();
                    }
                    return result;
                });
        Object result;
        try {
            result = invocation.proceed();
        } finally {
            context.close();
        }
        if (crash.get() != null) {
            // The listener has caught the exception, but a crashed process would not continue.
            throw crash.get();
        }
        return result;
    }
}
