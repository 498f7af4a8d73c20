package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.definition.ProxyPath;
import java.lang.reflect.Method;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.NoRollbackRuleAttribute;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** Whether the transactions that are asked for around the listener, by annotation or advice, are the claim's own. */
final class TransactionAttributeCheck implements ListenerCheck {

    private static final Logger logger = LoggerFactory.getLogger(TransactionAttributeCheck.class);

    private static final List<Integer> SHARED =
            List.of(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_NESTED);

    private static final List<Integer> SEPARATE = List.of(
            TransactionDefinition.PROPAGATION_REQUIRES_NEW,
            TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
            TransactionDefinition.PROPAGATION_NEVER);

    private static final String WITHOUT_ADVICE =
            "Leave the method out of the pointcut of that advice: @IdempotentListener opens the transaction.";

    private final ListableBeanFactory beanFactory;
    private final Map<TransactionManager, Boolean> savepoints = new IdentityHashMap<>();

    TransactionAttributeCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        TransactionAttribute own =
                (listener.transactionAttribute() instanceof RuleBasedTransactionAttribute rules) ? rules : null;
        ProxyPath path = ProxyPath.of(listener.bean(), listener.method());
        boolean advised = false;
        for (Advice advice : path.withinClaim()) {
            TransactionAttribute attribute = attributeOf(advice, listener);
            if (attribute != null) {
                boolean ofAnnotation = attribute.equals(own);
                advised |= ofAnnotation;
                if (!ofAnnotation) {
                    checkAdvice(listener, attribute, findings);
                }
                checkManager(listener, ofAnnotation, managerOf(advice, attribute, listener), findings);
            }
        }
        for (Advice advice : path.claims() ? path.aroundClaim() : List.<Advice>of()) {
            checkAround(listener, attributeOf(advice, listener), findings);
        }
        if (own instanceof RuleBasedTransactionAttribute annotation) {
            checkAnnotation(listener, annotation, findings);
            if (!advised) {
                checkManager(listener, true, managerOf(annotation), findings);
            }
        }
    }

    private void checkAnnotation(
            ProtectedListener listener, RuleBasedTransactionAttribute attribute, Findings findings) {
        if (!SHARED.contains(attribute.getPropagationBehavior())) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "Its @Transactional has the propagation %s.".formatted(propagation(attribute)),
                    "Write @Transactional without propagation, or move the work that needs it to another bean.");
        }
        if (isNestedWithoutSavepoints(listener, attribute)) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "Its @Transactional has the propagation NESTED, but its transaction manager (%s) has no savepoints."
                            .formatted(nameOf(listener.transactionManager())),
                    "Write @Transactional without propagation; a JdbcTransactionManager has savepoints, a"
                            + " JpaTransactionManager has none with Hibernate.");
        }
        if (attribute.isReadOnly()) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "Its @Transactional is readOnly, and a claim is written.",
                    "Write @Transactional without readOnly.");
        }
        if (attribute.getRollbackRules().stream().anyMatch(NoRollbackRuleAttribute.class::isInstance)) {
            findings.add(
                    Check.NO_ROLLBACK,
                    listener,
                    "Its @Transactional names exceptions in noRollbackFor.",
                    "Remove noRollbackFor; catch what is not a failure in the listener.");
        }
    }

    /** Within the claim's transaction, others than the annotation's may only join it. */
    private void checkAdvice(ProtectedListener listener, TransactionAttribute attribute, Findings findings) {
        if (SEPARATE.contains(attribute.getPropagationBehavior())) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "A transaction advice of its proxy has the propagation %s.".formatted(propagation(attribute)),
                    WITHOUT_ADVICE);
        }
        if (isNestedWithoutSavepoints(listener, attribute)) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "A transaction advice of its proxy has the propagation NESTED, but its transaction manager (%s) has"
                                    .formatted(nameOf(listener.transactionManager()))
                            + " no savepoints.",
                    WITHOUT_ADVICE);
        }
        if (attribute.isReadOnly()) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "A transaction advice of its proxy is readOnly, and a claim is written.",
                    WITHOUT_ADVICE);
        }
    }

    /** A transaction around the claim's ends after it: messages would be acknowledged, and counted, before its commit. */
    private static void checkAround(
            ProtectedListener listener, @Nullable TransactionAttribute attribute, Findings findings) {
        if (attribute != null) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "A transaction advice of a proxy stands around the claim, with the propagation %s."
                            .formatted(propagation(attribute)),
                    "Leave the method out of the pointcut of that advice, or give the advice a lower precedence (a"
                            + " higher order).");
        }
    }

    private static @Nullable TransactionAttribute attributeOf(Advice advice, ProtectedListener listener) {
        TransactionAttributeSource source =
                (advice instanceof TransactionAspectSupport support) ? support.getTransactionAttributeSource() : null;
        return (source != null)
                ? source.getTransactionAttribute(listener.method(), AopUtils.getTargetClass(listener.bean()))
                : null;
    }

    private boolean isNestedWithoutSavepoints(ProtectedListener listener, TransactionAttribute attribute) {
        PlatformTransactionManager manager = listener.transactionManager();
        return attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NESTED
                && manager != null
                && !this.savepoints.computeIfAbsent(manager, key -> hasSavepoints(manager));
    }

    /** Tried, as a manager does not tell: whether there are savepoints may be up to the provider behind it. */
    private static boolean hasSavepoints(PlatformTransactionManager manager) {
        try {
            TransactionStatus outer = manager.getTransaction(new DefaultTransactionDefinition());
            try {
                manager.rollback(manager.getTransaction(
                        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NESTED)));
            } finally {
                manager.rollback(outer);
            }
            return true;
        } catch (NestedTransactionNotSupportedException ex) {
            return false;
        } catch (TransactionException ex) {
            logger.debug("Could not begin a transaction to see whether {} has savepoints", manager, ex);
            return true;
        }
    }

    private static String propagation(TransactionAttribute attribute) {
        for (Propagation propagation : Propagation.values()) {
            if (propagation.value() == attribute.getPropagationBehavior()) {
                return propagation.name();
            }
        }
        return String.valueOf(attribute.getPropagationBehavior());
    }

    private static void checkManager(
            ProtectedListener listener, boolean ofAnnotation, @Nullable TransactionManager used, Findings findings) {
        if (used != null && listener.transactionManager() != null && used != listener.transactionManager()) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "%s uses another transaction manager (%s) than its @IdempotentListener (%s)."
                            .formatted(
                                    ofAnnotation ? "Its @Transactional" : "A transaction advice of its proxy",
                                    used,
                                    listener.transactionManager()),
                    ofAnnotation
                            ? "Name the same one in @Transactional(transactionManager = …) as in"
                                    + " @IdempotentListener(transactionManager = …), or name it in @Transactional alone."
                            : WITHOUT_ADVICE);
        }
    }

    private @Nullable TransactionManager managerOf(TransactionAttribute attribute) {
        try {
            return StringUtils.hasText(attribute.getQualifier())
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(
                            this.beanFactory, TransactionManager.class, attribute.getQualifier())
                    : this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
        } catch (BeansException ex) {
            return null;
        }
    }

    /** The manager that the advice will use, by its own rules. */
    private static @Nullable TransactionManager managerOf(
            Advice advice, TransactionAttribute attribute, ProtectedListener listener) {
        Method rules = ReflectionUtils.findMethod(
                advice.getClass(), "determineTransactionManager", TransactionAttribute.class, Class.class);
        Assert.state(rules != null, "This version of Spring does not tell the transaction manager of an advice");
        ReflectionUtils.makeAccessible(rules);
        try {
            return (TransactionManager)
                    ReflectionUtils.invokeMethod(rules, advice, attribute, AopUtils.getTargetClass(listener.bean()));
        } catch (BeansException ex) {
            return null;
        }
    }

    private static String nameOf(@Nullable Object manager) {
        return Objects.requireNonNull(manager).getClass().getSimpleName();
    }
}
