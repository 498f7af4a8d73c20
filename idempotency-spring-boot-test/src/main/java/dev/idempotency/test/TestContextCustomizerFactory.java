package dev.idempotency.test;

import dev.idempotency.IdempotencyConfigurationException;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/** Marks each context of Spring's test framework, so that the test kit can detect other contexts. */
final class TestContextCustomizerFactory implements ContextCustomizerFactory {

    private static final String MARK = "dev.idempotency.test.context";
    private static final Map<String, Object> DEFAULTS = Map.of("idempotency.checks.broker-timeout", "0s");

    /** Rejects a context that was not created by a test: the test kit must not be used in production. */
    static void requireTestContext(ConfigurableListableBeanFactory beanFactory, boolean allowed) {
        if (!allowed && !beanFactory.containsBean(MARK)) {
            throw new IdempotencyConfigurationException(
                    "idempotency-spring-boot-test is on the class path of an application that no test has started. It"
                            + " would deliver messages twice, or keep containers from starting.",
                    "Give the dependency the test scope (testImplementation), or set"
                            + " idempotency.test.allow-outside-tests=true if this is a test.",
                    null);
        }
    }

    @Override
    public ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configurations) {
        return new Marking();
    }

    /** All instances are equal, so that contexts are still shared among tests. */
    private record Marking() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            context.getBeanFactory().registerSingleton(MARK, MARK);
            // A client without a broker would fill the log of every test.
            context.getEnvironment().getPropertySources().addLast(new MapPropertySource(MARK, DEFAULTS));
        }
    }
}
