package dev.idempotency.test;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.MessageId;
import dev.idempotency.internal.listener.IdempotentListenerAdvisor;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.Set;
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
 * Fails the commit of a protected listener's transaction once for each message, in a {@link ContainerRun} that asks for it.
 *
 * <p>It fails as a deadlock does, so that the message is redelivered whatever its error handler does with failures.
 */
final class RollbackAdvisor extends StaticMethodMatcherPointcutAdvisor {

    @Serial
    private static final long serialVersionUID = 1L;

    private static final IdempotentListenerAdvisor CLAIMS = new IdempotentListenerAdvisor();

    /** The same in all contexts, so that they share the classes of proxies. */
    static final RollbackAdvisor INSTANCE = new RollbackAdvisor();

    private RollbackAdvisor() {
        super((MethodInterceptor) RollbackAdvisor::proceed);
    }

    /** Where messages are claimed: proxies of other classes would fail, or hide what start-up checks look for. */
    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return CLAIMS.matches(method, targetClass);
    }

    private static @Nullable Object proceed(MethodInvocation invocation) throws Throwable {
        ContainerRun run = ContainerRun.current();
        String step = (run != null) ? run.crashStep() : null;
        if (run != null && step != null) {
            return CrashingSteps.proceed(invocation, run, step);
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
}
