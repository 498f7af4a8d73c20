package dev.idempotency.internal.definition;

import dev.idempotency.StartupCheck;
import jakarta.persistence.EntityManagerFactory;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Finds the transaction manager and the transaction attributes of listeners. */
final class TransactionResolver {

    private static final String REMEDY = "Name the one that manages the store's DataSource in"
            + " @IdempotentListener(transactionManager = …), or make it @Primary.";

    private static final String REMEDY_WHERE_THERE_IS_NONE =
            "Define one: @Bean %1$s transactionManager(%2$s %3$s) { return"
                    + " new %1$s(%3$s); }. Spring Boot defines none beside another one, such as the KafkaTransactionManager that"
                    + " spring.kafka.producer.transaction-id-prefix brings.";

    private static final boolean JPA_PRESENT = ClassUtils.isPresent(
            "jakarta.persistence.EntityManagerFactory", TransactionResolver.class.getClassLoader());

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
        PlatformTransactionManager manager = StringUtils.hasText(qualifier) ? namedManager(qualifier) : onlyManager();
        if (manager instanceof DataSourceTransactionManager
                && hasEntities()
                && this.beanFactory.getBeansOfType(PlatformTransactionManager.class).values().stream()
                        .allMatch(each -> each instanceof DataSourceTransactionManager
                                || each instanceof KafkaAwareTransactionManager)) {
            throw ListenerFault.found(
                    StartupCheck.TRANSACTION_MANAGER,
                    "The application has JPA entities, but transaction managers for JDBC only: none would be saved.",
                    remedyWhereThereIsNone());
        }
        return manager;
    }

    private boolean hasEntities() {
        return JPA_PRESENT
                && this.beanFactory.getBeanProvider(EntityManagerFactory.class).stream()
                        .anyMatch(
                                factory -> !factory.getMetamodel().getEntities().isEmpty());
    }

    private String remedyWhereThereIsNone() {
        return hasEntities()
                ? REMEDY_WHERE_THERE_IS_NONE.formatted("JpaTransactionManager", "EntityManagerFactory", "factory")
                : REMEDY_WHERE_THERE_IS_NONE.formatted("JdbcTransactionManager", "DataSource", "dataSource");
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
                candidates.isEmpty() ? remedyWhereThereIsNone() : REMEDY);
    }
}
