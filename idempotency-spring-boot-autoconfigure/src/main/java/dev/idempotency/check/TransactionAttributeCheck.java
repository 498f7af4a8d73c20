package dev.idempotency.check;

import dev.idempotency.listener.ProtectedListener;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.NoRollbackRuleAttribute;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Whether the listener's own {@code @Transactional} lets it share the claim's transaction. */
final class TransactionAttributeCheck implements ListenerCheck {

    private static final List<Integer> SHARED =
            List.of(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_NESTED);

    private final ListableBeanFactory beanFactory;

    TransactionAttributeCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        if (!(listener.transactionAttribute() instanceof RuleBasedTransactionAttribute attribute)) {
            return;
        }
        if (!SHARED.contains(attribute.getPropagationBehavior())) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "Its @Transactional has the propagation %s.".formatted(propagation(attribute)),
                    "Write @Transactional without propagation, or move the work that needs it to another bean.");
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
        checkManager(listener, attribute, findings);
    }

    private static String propagation(TransactionAttribute attribute) {
        for (Propagation propagation : Propagation.values()) {
            if (propagation.value() == attribute.getPropagationBehavior()) {
                return propagation.name();
            }
        }
        return String.valueOf(attribute.getPropagationBehavior());
    }

    private void checkManager(ProtectedListener listener, TransactionAttribute attribute, Findings findings) {
        TransactionManager used = managerOf(attribute);
        if (used != null && listener.transactionManager() != null && used != listener.transactionManager()) {
            findings.add(
                    Check.TRANSACTION_ATTRIBUTES,
                    listener,
                    "Its @Transactional uses another transaction manager (%s) than its @IdempotentListener (%s)."
                            .formatted(used, listener.transactionManager()),
                    "Name the same one in @Transactional(transactionManager = …) as in"
                            + " @IdempotentListener(transactionManager = …), or name it in @Transactional alone.");
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
}
