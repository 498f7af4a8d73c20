package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Mode;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.kafka.EarlyLifecycle;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.util.ClassUtils;

/** Checks all listeners before any container starts, and later ones before theirs does. Reports all findings together. */
public final class ListenerChecks extends EarlyLifecycle {

    private static final boolean JPA_PRESENT =
            ClassUtils.isPresent("jakarta.persistence.EntityManagerFactory", ListenerChecks.class.getClassLoader());

    private final ConfigurableListableBeanFactory beanFactory;
    private final ObjectProvider<ListenerDefinitionRegistry> definitions;
    private final Findings.Policy policy;
    private final List<BiConsumer<ProtectedListener, Report>> checks;
    private final @Nullable BrokerChecks brokerChecks;
    private @Nullable Thread brokerThread;

    /** {@code deadLetterSuffix} is {@code null} if no dead letters are published. */
    public ListenerChecks(
            ConfigurableListableBeanFactory beanFactory,
            Mode mode,
            Set<StartupCheck> relaxed,
            Duration brokerTimeout,
            @Nullable String deadLetterSuffix) {
        this.beanFactory = beanFactory;
        this.definitions = beanFactory.getBeanProvider(ListenerDefinitionRegistry.class);
        this.policy = new Findings.Policy(mode, relaxed);
        this.brokerChecks = (this.policy.isOff() || brokerTimeout.isZero())
                ? null
                : new BrokerChecks(
                        brokerTimeout, () -> new Findings(beanFactory, this.policy), deadLetterSuffix, () -> beanFactory
                                .getBeanProvider(ProducerFactory.class)
                                .getIfUnique());
        this.checks = this.policy.isOff()
                ? List.of(ListenerChecks::checkFaults)
                : List.of(
                        ListenerChecks::checkFaults,
                        MethodCheck::check,
                        new TransactionCheck(beanFactory)::check,
                        new OtherListenersCheck(beanFactory, this::listeners)::check,
                        KeyCheck::check,
                        new ConnectionCheck(beanFactory, this::listeners)::check,
                        ContainerCheck::check,
                        JPA_PRESENT ? new MergedEntityCheck(beanFactory)::check : (listener, report) -> {},
                        this::checkRetryTopic);
    }

    @Override
    public void start() {
        Findings findings = new Findings(this.beanFactory, this.policy);
        if (!this.policy.isOff()) {
            List<ProtectedListener> known = (this.definitions.getIfAvailable() != null) ? listeners() : null;
            new AnnotatedBeansCheck(this.beanFactory, known, findings).check();
        }
        check(listeners(), findings);
        super.start();
        // Those that are created later than all others, such as lazy ones.
        this.definitions.ifAvailable(
                registry -> registry.inspectLater(later -> check(later, new Findings(this.beanFactory, this.policy))));
        if (this.brokerChecks != null && !listeners().isEmpty()) {
            this.brokerThread = this.brokerChecks.start(listeners());
        }
    }

    private List<ProtectedListener> listeners() {
        ListenerDefinitionRegistry available = this.definitions.getIfAvailable();
        return (available != null) ? available.listeners() : List.of();
    }

    private void check(List<ProtectedListener> listeners, Findings findings) {
        for (ProtectedListener listener : listeners) {
            Report report = (check, what, remedy) -> findings.add(check, listener, what, remedy);
            this.checks.forEach(check -> check.accept(listener, report));
        }
        findings.report();
    }

    private static void checkFaults(ProtectedListener listener, Report report) {
        listener.faults().forEach(fault -> report.add(fault.check(), fault.what(), fault.remedy()));
    }

    private void checkRetryTopic(ProtectedListener listener, Report report) {
        boolean annotated = Stream.of(listener.method(), listener.targetClass())
                .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class));
        if (isRunning() && (annotated || listener.isForRetries())) {
            report.add(
                    StartupCheck.LATE_RETRY_TOPIC,
                    "It has retry topics, and its bean is created after the application has started.",
                    "Let the bean be created at start-up: remove @Lazy, or the prototype scope, from it.");
        }
    }

    @Override
    public void stop() {
        super.stop();
        this.definitions.ifAvailable(registry -> registry.inspectLater(later -> {}));
        if (this.brokerThread != null) {
            this.brokerThread.interrupt();
        }
    }
}
