package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.definition.ProxyPath;
import dev.idempotency.store.ClaimedTransaction;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
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

    private static final List<Integer> SHARED =
            List.of(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_NESTED);

    private static final List<Integer> SEPARATE = List.of(
            TransactionDefinition.PROPAGATION_REQUIRES_NEW,
            TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
            TransactionDefinition.PROPAGATION_NEVER);

    private final ListableBeanFactory beanFactory;
    private final Map<TransactionManager, Boolean> savepoints = new IdentityHashMap<>();

    TransactionAttributeCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Report report) {
        TransactionAttribute own =
                (listener.transactionAttribute() instanceof RuleBasedTransactionAttribute rules) ? rules : null;
        ProxyPath path = ProxyPath.of(listener.bean(), listener.method());
        boolean advised = false;
        for (Advice advice : path.withinClaim()) {
            TransactionAttribute attribute = attributeOf(advice, listener);
            if (attribute != null) {
                boolean annotated = attribute.equals(own);
                advised |= annotated;
                if (!annotated) {
                    checkAttribute(listener, attribute, false, report);
                }
                checkManager(listener, managerOf(advice, attribute, listener), annotated, report);
            }
        }
        for (Advice advice : path.claims() ? path.aroundClaim() : List.<Advice>of()) {
            checkAround(attributeOf(advice, listener), report);
        }
        if (own != null) {
            checkAttribute(listener, own, true, report);
            if (ClaimedTransaction.hasExceptionsThatCommit(own)) {
                report.add(
                        Check.NO_ROLLBACK,
                        "Its @Transactional names exceptions in noRollbackFor.",
                        "Remove noRollbackFor; catch what is not a failure in the listener.");
            }
            if (!advised) {
                checkManager(listener, managerOf(own), true, report);
            }
        }
    }

    /** Within the claim's transaction, others than the annotation's may only join it. */
    private void checkAttribute(
            ProtectedListener listener, TransactionAttribute attribute, boolean annotated, Report report) {
        int propagation = attribute.getPropagationBehavior();
        if (annotated ? !SHARED.contains(propagation) : SEPARATE.contains(propagation)) {
            refuse(
                    annotated,
                    "has the propagation %s.".formatted(nameOf(propagation)),
                    "Write @Transactional without propagation, or move the work that needs it to another bean.",
                    report);
        }
        PlatformTransactionManager manager = listener.transactionManager();
        if (propagation == TransactionDefinition.PROPAGATION_NESTED && manager != null && !hasSavepoints(manager)) {
            refuse(
                    annotated,
                    "has the propagation NESTED, but its transaction manager (%s) has no savepoints."
                            .formatted(manager.getClass().getSimpleName()),
                    "Write @Transactional without propagation; a JdbcTransactionManager has savepoints, a"
                            + " JpaTransactionManager has none with Hibernate.",
                    report);
        }
        if (attribute.isReadOnly()) {
            refuse(annotated, "is readOnly, and a claim is written.", "Write @Transactional without readOnly.", report);
        }
    }

    private static void checkManager(
            ProtectedListener listener, @Nullable TransactionManager used, boolean annotated, Report report) {
        if (used != null && listener.transactionManager() != null && used != listener.transactionManager()) {
            refuse(
                    annotated,
                    "uses another transaction manager (%s) than its @IdempotentListener (%s)."
                            .formatted(used, listener.transactionManager()),
                    "Name the same one in @Transactional(transactionManager = …) as in"
                            + " @IdempotentListener(transactionManager = …), or name it in @Transactional alone.",
                    report);
        }
    }

    private static void refuse(boolean annotated, String what, String remedyOfAnnotation, Report report) {
        report.add(
                Check.TRANSACTION_ATTRIBUTES,
                (annotated ? "Its @Transactional " : "A transaction advice of its proxy ") + what,
                annotated
                        ? remedyOfAnnotation
                        : "Leave the method out of the pointcut of that advice: @IdempotentListener opens the"
                                + " transaction.");
    }

    /** A transaction around the claim's ends after it: messages would be acknowledged, and counted, before its commit. */
    private static void checkAround(@Nullable TransactionAttribute attribute, Report report) {
        if (attribute != null) {
            report.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    "A transaction advice of a proxy stands around the claim, with the propagation %s."
                            .formatted(nameOf(attribute.getPropagationBehavior())),
                    "Leave the method out of the pointcut of that advice, or give the advice a lower precedence (a"
                            + " higher order).");
        }
    }

    private static @Nullable TransactionAttribute attributeOf(Advice advice, ProtectedListener listener) {
        TransactionAttributeSource source =
                (advice instanceof TransactionAspectSupport support) ? support.getTransactionAttributeSource() : null;
        return (source != null) ? source.getTransactionAttribute(listener.method(), listener.targetClass()) : null;
    }

    /** Tried, as a manager does not tell: whether there are savepoints may be up to the provider behind it. */
    private boolean hasSavepoints(PlatformTransactionManager manager) {
        return this.savepoints.computeIfAbsent(
                manager,
                key -> TransactionManagerCheck.isSeenInTransaction(manager, () -> {
                    try {
                        manager.rollback(manager.getTransaction(
                                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NESTED)));
                        return true;
                    } catch (NestedTransactionNotSupportedException ex) {
                        return false;
                    }
                }));
    }

    private static String nameOf(int propagation) {
        return Arrays.stream(Propagation.values())
                .filter(known -> known.value() == propagation)
                .map(Propagation::name)
                .findFirst()
                .orElseGet(() -> String.valueOf(propagation));
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
            return (TransactionManager) ReflectionUtils.invokeMethod(rules, advice, attribute, listener.targetClass());
        } catch (BeansException ex) {
            return null;
        }
    }
}
