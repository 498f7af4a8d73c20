package dev.idempotency.test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Clears outcomes before each test method, as contexts are shared. */
final class OutcomeResetListener implements TestExecutionListener {

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            ApplicationContext context = test.getApplicationContext();
            context.getBeanProvider(IdempotencyTester.class).ifAvailable(IdempotencyTester::reset);
        }
    }
}
