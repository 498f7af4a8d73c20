package dev.idempotency.operation;

import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.database.ManagedDataSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The application's transaction managers, as executions need them.
 *
 * @param own the one that begins their transactions
 * @param all those that manage the store's {@code DataSource}, and so may have begun one already; the own one first
 */
record OperationTransactionManagers(PlatformTransactionManager own, Set<PlatformTransactionManager> all) {

    static final String REMEDY =
            " Define a JdbcTransactionManager or JpaTransactionManager for the store's DataSource, or make it @Primary.";

    /**
     * Those that are beans.
     *
     * @throws UnprotectedClaimException if there is no telling which one is meant
     */
    static OperationTransactionManagers find(ListableBeanFactory beanFactory, @Nullable DataSource dataSource) {
        Map<String, PlatformTransactionManager> beans =
                BeanFactoryUtils.beansOfTypeIncludingAncestors(beanFactory, PlatformTransactionManager.class)
                        .entrySet()
                        .stream()
                        .filter(entry -> !(entry.getValue() instanceof KafkaAwareTransactionManager))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        List<PlatformTransactionManager> fitting = beans.values().stream()
                .filter(manager -> dataSource != null && ManagedDataSource.of(manager) == dataSource)
                .toList();
        PlatformTransactionManager own = choose(beanFactory, beans, fitting);
        Set<PlatformTransactionManager> all = new LinkedHashSet<>();
        all.add(own);
        all.addAll(fitting);
        return new OperationTransactionManagers(own, all);
    }

    private static PlatformTransactionManager choose(
            ListableBeanFactory beanFactory,
            Map<String, PlatformTransactionManager> beans,
            List<PlatformTransactionManager> fitting) {
        if (fitting.size() == 1) {
            return fitting.get(0);
        }
        PlatformTransactionManager primary =
                beanFactory.getBeanProvider(PlatformTransactionManager.class).getIfUnique();
        if (primary != null && beans.containsValue(primary)) {
            return primary;
        }
        if (beans.size() == 1) {
            return beans.values().iterator().next();
        }
        throw new UnprotectedClaimException(
                (beans.isEmpty()
                                ? "IdempotentOperations needs a transaction manager for the store's DataSource, but there is none."
                                : "IdempotentOperations needs one transaction manager, but there are several and none is"
                                        + " primary: " + new TreeSet<>(beans.keySet()) + ".")
                        + REMEDY,
                null);
    }
}
