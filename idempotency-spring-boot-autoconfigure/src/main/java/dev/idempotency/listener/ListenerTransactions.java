package dev.idempotency.listener;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.StringUtils;

/** Finds the transaction manager and the transaction attributes of listeners. */
final class ListenerTransactions {

    private final TransactionAttributeSource attributes = new AnnotationTransactionAttributeSource(false);
    private final ListableBeanFactory beanFactory;

    ListenerTransactions(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** The transaction of a listener method; the manager's name, where given, wins over that of {@code @Transactional}. */
    ListenerTransaction of(Method method, Class<?> targetClass, String managerName) {
        TransactionAttribute own = this.attributes.getTransactionAttribute(method, targetClass);
        TransactionAttribute attribute = (own != null) ? own : new DefaultTransactionAttribute();
        String qualifier = StringUtils.hasText(managerName) ? managerName : attribute.getQualifier();
        PlatformTransactionManager manager = StringUtils.hasText(qualifier)
                ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(
                        this.beanFactory, PlatformTransactionManager.class, qualifier)
                : onlyManager(method);
        return new ListenerTransaction(manager, attribute);
    }

    private PlatformTransactionManager onlyManager(Method method) {
        PlatformTransactionManager primary = this.beanFactory
                .getBeanProvider(PlatformTransactionManager.class)
                .getIfUnique();
        if (primary != null && !(primary instanceof KafkaAwareTransactionManager)) {
            return primary;
        }
        Map<String, PlatformTransactionManager> candidates =
                this.beanFactory.getBeansOfType(PlatformTransactionManager.class).entrySet().stream()
                        .filter(entry -> !(entry.getValue() instanceof KafkaAwareTransactionManager))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        if (candidates.size() == 1) {
            return candidates.values().iterator().next();
        }
        String found = candidates.isEmpty() ? "there is none" : "there are several: " + candidates.keySet();
        throw new IllegalStateException(("%s needs a transaction manager for the store's DataSource, but %s. Name one"
                        + " in @IdempotentListener(transactionManager = …), or make one @Primary.")
                .formatted(method, found));
    }
}
