package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.database.DataSourceTransactions;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.definition.ProxyPath;
import dev.idempotency.internal.store.ClaimedTransaction;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.SQLException;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

/** Checks that the listener's transaction is the claim's own, and on the store's data source. */
record TransactionCheck(ListableBeanFactory beanFactory) {

    void check(ProtectedListener listener, Report report) {
        TransactionAttribute own =
                (listener.transactionAttribute() instanceof RuleBasedTransactionAttribute rules) ? rules : null;
        ProxyPath path = ProxyPath.of(listener.bean(), listener.method());
        if (own != null) {
            checkAttribute(own, managerOf(own, path), listener.transactionManager(), report);
        }
        // A transaction around the claim's ends after it: messages would be acknowledged before its commit.
        boolean around =
                path.claims() && path.aroundClaim().stream().anyMatch(advice -> applies(advice, listener, true));
        boolean within = path.withinClaim().stream().anyMatch(advice -> applies(advice, listener, false));
        if (around || within) {
            report.add(
                    StartupCheck.TRANSACTION_ATTRIBUTES,
                    "Its proxy has a transaction advice %s the claim.".formatted(around ? "around" : "within"),
                    "Leave the method out of the pointcut of that advice: @IdempotentListener opens the transaction. If it"
                            + " belongs to @Transactional, give it a lower precedence (a higher order).");
        }
        checkDataSource(listener.transactionManager(), report);
    }

    private static void checkAttribute(
            TransactionAttribute attribute,
            @Nullable TransactionManager used,
            @Nullable PlatformTransactionManager manager,
            Report report) {
        int propagation = attribute.getPropagationBehavior();
        if (propagation != TransactionDefinition.PROPAGATION_REQUIRED) {
            report.add(
                    StartupCheck.TRANSACTION_ATTRIBUTES,
                    "Its @Transactional has the propagation %s.".formatted(Propagation.values()[propagation]),
                    "Write @Transactional without propagation, or move the work that needs it to another bean.");
        }
        if (attribute.isReadOnly()) {
            report.add(
                    StartupCheck.TRANSACTION_ATTRIBUTES,
                    "Its @Transactional is readOnly, and a claim is written.",
                    "Write @Transactional without readOnly.");
        }
        if (used != null && manager != null && used != manager) {
            report.add(
                    StartupCheck.TRANSACTION_ATTRIBUTES,
                    "Its @Transactional uses another transaction manager (%s) than its @IdempotentListener (%s)."
                            .formatted(used, manager),
                    "Name the same one in @Transactional(transactionManager = …) as in"
                            + " @IdempotentListener(transactionManager = …), or name it in @Transactional alone.");
        }
        if (ClaimedTransaction.hasExceptionsThatCommit(attribute)) {
            report.add(
                    StartupCheck.NO_ROLLBACK,
                    "Its @Transactional names exceptions in noRollbackFor.",
                    "Remove noRollbackFor; catch expected exceptions in the listener.");
        }
    }

    private @Nullable TransactionManager managerOf(TransactionAttribute attribute, ProxyPath path) {
        // As a TransactionManagementConfigurer says.
        Optional<TransactionManager> configured = path.withinClaim().stream()
                .filter(TransactionAspectSupport.class::isInstance)
                .flatMap(advice -> Stream.ofNullable(((TransactionAspectSupport) advice).getTransactionManager()))
                .findFirst();
        try {
            return StringUtils.hasText(attribute.getQualifier())
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(
                            this.beanFactory, TransactionManager.class, attribute.getQualifier())
                    : configured.orElseGet(() -> this.beanFactory
                            .getBeanProvider(TransactionManager.class)
                            .getIfUnique());
        } catch (BeansException ex) {
            return null;
        }
    }

    /** Whether an advice opens or joins a transaction, {@code annotated} or by a pointcut of the application's. */
    private static boolean applies(Advice advice, ProtectedListener listener, boolean annotated) {
        TransactionAttributeSource source =
                (advice instanceof TransactionAspectSupport support) ? support.getTransactionAttributeSource() : null;
        return source != null
                && (annotated || !(source instanceof AnnotationTransactionAttributeSource))
                && source.getTransactionAttribute(listener.method(), listener.targetClass()) != null;
    }

    private void checkDataSource(@Nullable PlatformTransactionManager manager, Report report) {
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (!(store instanceof JdbcProcessedMessageStore jdbc)) {
            return;
        }
        if (manager != null && !binds(manager, jdbc.dataSource())) {
            report.add(
                    StartupCheck.TRANSACTION_DATA_SOURCE,
                    "Its transaction manager (%s) does not manage the store's DataSource (%s)."
                            .formatted(manager.getClass().getSimpleName(), jdbc.dataSource()),
                    "Name one that manages the store's DataSource in @IdempotentListener(transactionManager = …), and make"
                            + " that DataSource @Primary.");
        }
        if (jdbc.database().schema() == null && isRouting(jdbc.dataSource())) {
            report.add(
                    StartupCheck.ROUTING_DATA_SOURCE,
                    "The store's DataSource is an AbstractRoutingDataSource.",
                    "Keep the tables in one schema that all its connections share, in one database, and name it in"
                            + " idempotency.schema.name; or give the store another DataSource, as @Primary."
                            + " If all but one are read-only replicas, relax this check.");
        }
    }

    private static boolean isRouting(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
        } catch (SQLException | RuntimeException ex) {
            // A lazy one that cannot be connected today.
            return false;
        }
    }

    /** With a manager that does not say what it manages, a transaction is begun and rolled back. */
    private static boolean binds(PlatformTransactionManager manager, DataSource dataSource) {
        DataSource managed = DataSourceTransactions.dataSourceOf(manager);
        if (managed != null || manager instanceof KafkaAwareTransactionManager) {
            return managed == dataSource;
        }
        try {
            return new TransactionTemplate(manager).execute(status -> {
                status.setRollbackOnly();
                return TransactionSynchronizationManager.hasResource(dataSource);
            });
        } catch (TransactionException ex) {
            return true; // It cannot be seen today.
        }
    }
}
