package dev.idempotency.internal.definition;

import dev.idempotency.StartupCheck;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Finds the transaction manager and the transaction attributes of listeners. */
final class TransactionResolver {

    private static final String REMEDY = "Name the one that manages the store's DataSource in"
            + " @IdempotentListener(transactionManager = …), or make it @Primary.";

    private static final String REMEDY_WHERE_THERE_IS_NONE = "Define one: @Bean JdbcTransactionManager"
            + " transactionManager(DataSource dataSource) { return new JdbcTransactionManager(dataSource); }. Spring Boot"
            + " defines none beside the KafkaTransactionManager that spring.kafka.producer.transaction-id-prefix brings.";

    private final AnnotationTransactionAttributeSource attributes = new AnnotationTransactionAttributeSource(false);
    private final ConfigurableListableBeanFactory beanFactory;

    TransactionResolver(ConfigurableListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
        this.attributes.setEmbeddedValueResolver(new EmbeddedValueResolver(beanFactory));
    }

    /** Returns the transaction attributes of a listener method, or default ones. */
    TransactionAttribute attributesOf(Method method, Class<?> targetClass) {
        TransactionAttribute own = this.attributes.getTransactionAttribute(method, targetClass);
        return (own != null) ? own : new DefaultTransactionAttribute();
    }

    /** Returns the transaction manager of a listener; a given name wins over {@code @Transactional}. */
    PlatformTransactionManager managerFor(TransactionAttribute attribute, String managerName) {
        String qualifier = StringUtils.hasText(managerName) ? managerName : attribute.getQualifier();
        return StringUtils.hasText(qualifier) ? namedManager(qualifier) : onlyManager();
    }

    private PlatformTransactionManager namedManager(String qualifier) {
        try {
            return BeanFactoryAnnotationUtils.qualifiedBeanOfType(
                    this.beanFactory, PlatformTransactionManager.class, qualifier);
        } catch (NoSuchBeanDefinitionException ex) {
            throw ListenerFault.found(
                    StartupCheck.TRANSACTION_MANAGER,
                    "The listener names the transaction manager '%s', but no PlatformTransactionManager has that name"
                                    .formatted(qualifier)
                            + " or qualifier; there are " + managerNames() + ".",
                    REMEDY);
        }
    }

    private List<String> managerNames() {
        return List.of(this.beanFactory.getBeanNamesForType(TransactionManager.class));
    }

    private PlatformTransactionManager onlyManager() {
        PlatformTransactionManager primary = this.beanFactory
                .getBeanProvider(PlatformTransactionManager.class)
                .getIfUnique();
        if (primary != null && !(primary instanceof KafkaAwareTransactionManager)) {
            return primary;
        }
        Map<String, PlatformTransactionManager> candidates =
                new TreeMap<>(this.beanFactory.getBeansOfType(PlatformTransactionManager.class));
        candidates.values().removeIf(KafkaAwareTransactionManager.class::isInstance);
        if (candidates.size() == 1) {
            return candidates.values().iterator().next();
        }
        throw ListenerFault.found(
                StartupCheck.TRANSACTION_MANAGER,
                candidates.isEmpty()
                        ? "The listener needs a PlatformTransactionManager for the store's DataSource, but there is none"
                                + " apart from Kafka's and reactive ones: " + managerNames() + "."
                        : "The listener needs one transaction manager, but there are several and none is named: "
                                + candidates.keySet() + ".",
                candidates.isEmpty() ? REMEDY_WHERE_THERE_IS_NONE : REMEDY);
    }
}
