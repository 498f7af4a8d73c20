package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.FailedChecksException;
import dev.idempotency.definition.CalledMethods;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.failure.ErrorHandlerInstaller;
import java.lang.reflect.Method;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.event.ConsumerStartingEvent;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Keeps containers from polling that call protected methods and were not prepared to have their messages claimed: those
 * of endpoints that are registered by hand, and those of a child context that has no protection of its own. So it does with
 * those that were prepared, and have been given another error handler since.
 *
 * <p>Events of child contexts reach it, too. A child context with such containers does not start.
 */
public final class ContainerGuard implements ApplicationListener<ApplicationEvent> {

    private static final Logger logger = LoggerFactory.getLogger(ContainerGuard.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final CheckPolicy policy;

    public ContainerGuard(ConfigurableListableBeanFactory beanFactory, CheckPolicy policy) {
        this.beanFactory = beanFactory;
        this.policy = policy;
    }

    /** On the consumer's own thread, before its first poll. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event instanceof ConsumerStartingEvent starting && isOn()) {
            refuse(starting.getContainer(MessageListenerContainer.class));
        } else if (event instanceof ContextRefreshedEvent refreshed && isOn()) {
            check(refreshed.getApplicationContext());
        }
    }

    /** Without a store nothing is protected, which is another finding. */
    private boolean isOn() {
        return !this.policy.isOff()
                && this.beanFactory.getBeanNamesForType(ListenerDefinitionRegistry.class).length > 0;
    }

    private void refuse(MessageListenerContainer container) {
        Findings findings = new Findings(this.beanFactory, this.policy);
        find(container, findings);
        findReplacedErrorHandler(container, findings);
        try {
            findings.report();
        } catch (FailedChecksException ex) {
            logger.error("The container '{}' is stopped before its first poll", container.getListenerId(), ex);
            container.stop(() -> {});
        }
    }

    /** Looked for when a container starts: until then it may be given one. */
    private static void findReplacedErrorHandler(MessageListenerContainer started, Findings findings) {
        CalledMethods called = CalledMethods.of(started);
        if (called == null
                || !called.prepared()
                || !(started instanceof AbstractMessageListenerContainer<?, ?> container)
                || !ErrorHandlerInstaller.isReplacedIn(container)) {
            return;
        }
        Class<?> type = AopUtils.getTargetClass(called.bean());
        for (Method method : called.methods()) {
            if (IdempotentListenerAnnotations.find(method, type) != null) {
                findings.add(
                        Check.REPLACED_ERROR_HANDLER,
                        called.bean(),
                        method,
                        "The error handler of its container '%s' was set after the application had started."
                                .formatted(container.getListenerId()),
                        "Set it on the container factory, in a ContainerCustomizer or in the containerPostProcessor of"
                                + " @KafkaListener, or define it as a bean.");
            }
        }
    }

    private void check(ApplicationContext context) {
        if (context.getAutowireCapableBeanFactory() == this.beanFactory) {
            // Checked before anything was started.
            return;
        }
        Findings findings = new Findings(this.beanFactory, this.policy);
        context.getBeansOfType(KafkaListenerEndpointRegistry.class, false, false)
                .values()
                .forEach(registry -> find(registry.getListenerContainers(), findings));
        findings.report();
    }

    static void find(Collection<MessageListenerContainer> containers, Findings findings) {
        containers.forEach(container -> find(container, findings));
    }

    private static void find(MessageListenerContainer container, Findings findings) {
        CalledMethods called = CalledMethods.of(container);
        if (called == null || called.prepared()) {
            return;
        }
        Class<?> type = AopUtils.getTargetClass(called.bean());
        for (Method method : called.methods()) {
            if (IdempotentListenerAnnotations.find(method, type) != null) {
                findings.add(
                        Check.NOT_REGISTERED,
                        called.bean(),
                        method,
                        "The container '%s' calls it that was not made for its @KafkaListener: its endpoint was registered"
                                        .formatted(container.getListenerId())
                                + " by hand, or in an application context that has not the auto-configuration of"
                                + " @IdempotentListener, such as a child context.",
                        "Name all topics in @KafkaListener, which may be repeated, instead of registering endpoints by"
                                + " hand; let @EnableKafka, the listener and the auto-configuration be in the same"
                                + " application context.");
            }
        }
    }
}
