package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ListenerInspection;
import dev.idempotency.definition.ProtectedListener;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/**
 * Checks all listeners when all beans are there and before any container starts, and later ones before theirs does.
 *
 * <p>All that is found is reported together.
 */
public final class ListenerChecks implements SmartLifecycle, ListenerInspection {

    private static final Logger logger = LoggerFactory.getLogger(ListenerChecks.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final ObjectProvider<ListenerDefinitionRegistry> definitions;
    private final CheckPolicy policy;
    private final List<ListenerCheck> checks;
    private final BrokerChecks brokerChecks;
    private volatile boolean running;

    public ListenerChecks(ConfigurableListableBeanFactory beanFactory, CheckPolicy policy, Duration brokerTimeout) {
        this.beanFactory = beanFactory;
        this.definitions = beanFactory.getBeanProvider(ListenerDefinitionRegistry.class);
        this.policy = policy;
        this.brokerChecks = new BrokerChecks(brokerTimeout, () -> new Findings(beanFactory, policy));
        this.checks = (policy.mode() == CheckMode.OFF)
                ? List.of(ListenerChecks::checkFaults)
                : List.of(
                        ListenerChecks::checkFaults,
                        new ProxyCheck(),
                        new ResultCheck(),
                        new TransactionAttributeCheck(beanFactory),
                        new TransactionManagerCheck(beanFactory),
                        new ContainerTransactionCheck(),
                        new ConsumerNameCheck(this::listeners),
                        new RenamedConsumerCheck(beanFactory),
                        new KeyCheck(),
                        new OffsetCheck(),
                        new ErrorHandlingCheck(),
                        new RetentionCheck(beanFactory, this::listeners),
                        new BatchCheck());
    }

    /** Before anything else that has a life cycle, containers above all. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void start() {
        long start = System.nanoTime();
        Findings findings = new Findings(this.beanFactory, this.policy);
        if (this.policy.mode() != CheckMode.OFF) {
            checkBeans(findings);
        }
        listeners().forEach(listener -> check(listener, findings));
        logger.debug(
                "Checked {} listeners in {} ms",
                listeners().size(),
                Duration.ofNanos(System.nanoTime() - start).toMillis());
        findings.report();
        this.running = true;
        if (this.policy.mode() != CheckMode.OFF) {
            this.brokerChecks.start(listeners());
        }
    }

    /** A listener that is created later than all others, such as a lazy one. */
    @Override
    public void inspect(List<ProtectedListener> listeners) {
        if (!this.running) {
            return;
        }
        Findings findings = new Findings(this.beanFactory, this.policy);
        listeners.forEach(listener -> check(listener, findings));
        if (this.policy.mode() != CheckMode.OFF) {
            listeners.forEach(listener -> checkRetryTopic(listener, findings));
        }
        findings.report();
        if (this.policy.mode() != CheckMode.OFF) {
            this.brokerChecks.start(listeners);
        }
    }

    private List<ProtectedListener> listeners() {
        ListenerDefinitionRegistry available = this.definitions.getIfAvailable();
        return (available != null) ? available.listeners() : List.of();
    }

    private void check(ProtectedListener listener, Findings findings) {
        this.checks.forEach(check -> check.check(listener, findings));
    }

    private void checkBeans(Findings findings) {
        boolean storeMissing = this.definitions.getIfAvailable() == null;
        new AnnotatedBeansCheck(this.beanFactory, storeMissing ? null : listeners(), findings).check();
        if (!storeMissing) {
            BeanFactoryUtils.beansOfTypeIncludingAncestors(
                            this.beanFactory, KafkaListenerEndpointRegistry.class, false, false)
                    .values()
                    .forEach(registry -> ContainerGuard.find(registry.getListenerContainers(), findings));
        }
    }

    private static void checkFaults(ProtectedListener listener, Findings findings) {
        listener.faults().forEach(fault -> findings.add(fault.check(), listener, fault.what(), fault.remedy()));
    }

    private static void checkRetryTopic(ProtectedListener listener, Findings findings) {
        boolean annotated = Stream.of(listener.method(), AopUtils.getTargetClass(listener.bean()))
                .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class));
        if (annotated || listener.container().getMainListenerId() != null) {
            findings.add(
                    Check.LATE_RETRY_TOPIC,
                    listener,
                    "It has retry topics, and its bean is created after the application has started.",
                    "Let the bean be created at start-up: remove @Lazy, or the prototype scope, from it.");
        }
    }

    @Override
    public void stop() {
        this.running = false;
        this.brokerChecks.stop();
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }
}
