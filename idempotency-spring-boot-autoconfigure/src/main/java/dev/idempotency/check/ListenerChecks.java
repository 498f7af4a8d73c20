package dev.idempotency.check;

import dev.idempotency.check.AnnotatedBeans.EmptyClass;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ListenerInspection;
import dev.idempotency.definition.ProtectedListener;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.util.ClassUtils;

/**
 * Checks all listeners when all beans are there and before any container starts, and later ones before theirs does.
 *
 * <p>All that is found is reported together.
 */
public final class ListenerChecks implements SmartLifecycle, ListenerInspection {

    private static final Logger logger = LoggerFactory.getLogger(ListenerChecks.class);

    private static final ListenerCheck LATE_RETRY_TOPIC = new LateRetryTopicCheck();

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
                ? List.of(new FaultCheck())
                : List.of(
                        new FaultCheck(),
                        new ProxyCheck(),
                        new AsynchronyCheck(),
                        new TransactionAttributeCheck(beanFactory),
                        new TransactionManagerCheck(beanFactory),
                        new ContainerTransactionCheck(),
                        new ConsumerNameCheck(this::listeners),
                        new RenamedConsumerCheck(beanFactory),
                        new KeyCheck(),
                        new OffsetCheck(),
                        new ReplyCheck(),
                        new ErrorHandlingCheck(),
                        new RetentionCheck(beanFactory, this::listeners),
                        new BatchToRecordCheck(),
                        new PollObservationCheck(),
                        new BatchSignatureCheck());
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
            checkAnnotatedBeans(findings);
        }
        if (this.policy.mode() != CheckMode.OFF && this.definitions.getIfAvailable() != null) {
            BeanFactoryUtils.beansOfTypeIncludingAncestors(
                            this.beanFactory, KafkaListenerEndpointRegistry.class, false, false)
                    .values()
                    .forEach(registry -> ContainerGuard.find(registry.getListenerContainers(), findings));
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
            listeners.forEach(listener -> LATE_RETRY_TOPIC.check(listener, findings));
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

    private void checkAnnotatedBeans(Findings findings) {
        AnnotatedBeans annotated = AnnotatedBeans.of(this.beanFactory);
        for (EmptyClass empty : annotated.classesWithoutMethods()) {
            findings.add(
                    Check.NO_KAFKA_LISTENER,
                    empty.type(),
                    null,
                    empty.beanName(),
                    "The class is an @IdempotentListener, but has no @KafkaListener or @KafkaHandler method.",
                    "Add @KafkaListener to the method that receives the messages, or remove @IdempotentListener.");
        }
        boolean storeMissing = this.definitions.getIfAvailable() == null;
        for (AnnotatedMethod method : annotated.methods()) {
            if (storeMissing) {
                findings.add(
                        Check.NO_STORE,
                        method,
                        "There is no store for its claims, as the application has no DataSource, or several and none of"
                                + " them @Primary. R2DBC connections cannot be used.",
                        "Make one javax.sql.DataSource bean @Primary, define a ProcessedMessageStore bean, or set"
                                + " idempotency.enabled=false to run all listeners unprotected.");
            } else if (!method.isKafkaListener()) {
                findings.add(
                        Check.NO_KAFKA_LISTENER,
                        method,
                        "The method is an @IdempotentListener, but no @KafkaListener, nor a @KafkaHandler in a class"
                                + " that is one.",
                        "Move @IdempotentListener to the method with @KafkaListener, or add @KafkaListener here.");
            } else if (isExpectedButUnknown(method)) {
                findings.add(
                        Check.NOT_REGISTERED,
                        method,
                        "Spring Kafka has not registered the listener with a container that could be prepared: its bean"
                                + " was created too early (a BeanPostProcessor needs it), @EnableKafka is missing, or"
                                + " its container factory makes share consumers.",
                        "Let BeanPostProcessors take it as an ObjectProvider or @Lazy and declare them in static @Bean"
                                + " methods; use a ConcurrentKafkaListenerContainerFactory.");
            }
        }
    }

    /** A bean that exists must have a container for its listeners; one that is lazy gets it, and is checked, later. */
    private boolean isExpectedButUnknown(AnnotatedMethod method) {
        return this.beanFactory.containsSingleton(method.beanName())
                && listeners().stream()
                        .noneMatch(listener -> listener.method().equals(method.method())
                                && ClassUtils.getUserClass(AopUtils.getTargetClass(listener.bean()))
                                        .equals(method.type()));
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
