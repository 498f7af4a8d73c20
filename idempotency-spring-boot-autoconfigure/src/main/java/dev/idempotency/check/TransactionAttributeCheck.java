package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.definition.ProxyPath;
import dev.idempotency.store.ClaimedTransaction;
import java.util.Arrays;
import java.util.List;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.StringUtils;

/** Checks that transactions around the listener, by annotation or advice, are the claim's own. */
final class TransactionAttributeCheck implements ListenerCheck {

    /** Within the claim's transaction, an advice may only join it. */
    private static final List<Integer> JOINING = List.of(
            TransactionDefinition.PROPAGATION_REQUIRED,
            TransactionDefinition.PROPAGATION_SUPPORTS,
            TransactionDefinition.PROPAGATION_MANDATORY);

    private final ListableBeanFactory beanFactory;

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
                    checkAttribute(attribute, false, report);
                }
                checkManager(listener, managerOf(attribute, advice), annotated, report);
            }
        }
        for (Advice advice : path.claims() ? path.aroundClaim() : List.<Advice>of()) {
            checkAround(attributeOf(advice, listener), report);
        }
        if (own != null) {
            checkAttribute(own, true, report);
            if (ClaimedTransaction.hasExceptionsThatCommit(own)) {
                report.add(
                        Check.NO_ROLLBACK,
                        "Its @Transactional names exceptions in noRollbackFor.",
                        "Remove noRollbackFor; catch expected exceptions in the listener.");
            }
            if (!advised) {
                checkManager(listener, managerOf(own, null), true, report);
            }
        }
    }

    private static void checkAttribute(TransactionAttribute attribute, boolean annotated, Report report) {
        int propagation = attribute.getPropagationBehavior();
        if (annotated ? propagation != TransactionDefinition.PROPAGATION_REQUIRED : !JOINING.contains(propagation)) {
            refuse(
                    annotated,
                    "has the propagation %s.".formatted(nameOf(propagation)),
                    "Write @Transactional without propagation, or move the work that needs it to another bean.",
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

    private static String nameOf(int propagation) {
        return Arrays.stream(Propagation.values())
                .filter(known -> known.value() == propagation)
                .map(Propagation::name)
                .findFirst()
                .orElseGet(() -> String.valueOf(propagation));
    }

    /** By the rules of an advice: the qualifier counts first, and then the manager that the advice was given. */
    private @Nullable TransactionManager managerOf(TransactionAttribute attribute, @Nullable Advice advice) {
        boolean qualified = StringUtils.hasText(attribute.getQualifier());
        if (!qualified
                && advice instanceof TransactionAspectSupport support
                && support.getTransactionManager() != null) {
            return support.getTransactionManager();
        }
        try {
            return qualified
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(
                            this.beanFactory, TransactionManager.class, attribute.getQualifier())
                    : this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
        } catch (BeansException ex) {
            return null;
        }
    }
}
