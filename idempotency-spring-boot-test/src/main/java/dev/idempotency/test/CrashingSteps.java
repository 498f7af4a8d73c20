package dev.idempotency.test;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.StepRunner;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/** Ends the work of each message once, after one of its steps was recorded. It fails as a deadlock does. */
final class CrashingSteps implements StepRunner {

    private final StepRunner delegate;
    private final ContainerRun run;
    private final String step;
    private @Nullable CannotAcquireLockException crash;

    private CrashingSteps(StepRunner delegate, ContainerRun run, String step) {
        this.delegate = delegate;
        this.run = run;
        this.step = step;
    }

    static @Nullable Object proceed(MethodInvocation invocation, ContainerRun run, String step) throws Throwable {
        CrashingSteps[] steps = new CrashingSteps[1];
        IdempotencyContextHolder.Scope context =
                IdempotencyContextHolder.decorateSteps(delegate -> steps[0] = new CrashingSteps(delegate, run, step));
        Object result;
        try {
            result = invocation.proceed();
        } finally {
            context.close();
        }
        if (steps[0].crash != null) {
            // The listener has caught it: a process that crashed does not go on.
            throw steps[0].crash;
        }
        return result;
    }

    @Override
    public <T extends @Nullable Object> T run(
            MessageId id, String name, Type type, String key, Function<String, ? extends T> call) {
        T result = this.delegate.run(id, name, type, key, call);
        crashAfter(id, name);
        return result;
    }

    @Override
    public void runAtMostOnce(MessageId id, String name, Runnable call) {
        this.delegate.runAtMostOnce(id, name, call);
        crashAfter(id, name);
    }

    private void crashAfter(MessageId id, String name) {
        if (name.equals(this.step) && !this.run.haveBeenRolledBack(Set.of(id))) {
            this.run.rolledBack(Set.of(id));
            this.crash = new CannotAcquireLockException("Crashed by crashingAfterStep(\"%s\")".formatted(name));
            throw this.crash;
        }
    }
}
