package dev.idempotency.check;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.check.elsewhere.InheritedListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import kotlin.coroutines.Continuation;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AliasFor;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.NameMatchTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.backoff.FixedBackOff;

/** An application that has nearly all faults at once. The nested classes are its listeners. */
@Configuration(proxyBeanMethods = false)
@EnableKafkaRetryTopic
@EnableAsync(annotation = FaultyListeners.InBackground.class)
class FaultyListeners {

    /** A listener of topic "t" in group "g". */
    @KafkaListener
    @IdempotentListener
    @Retention(RetentionPolicy.RUNTIME)
    @interface Faulty {

        @AliasFor(annotation = KafkaListener.class)
        String[] topics() default "t";

        @AliasFor(annotation = KafkaListener.class)
        String groupId() default "g";

        @AliasFor(annotation = KafkaListener.class)
        String containerPostProcessor() default "";

        @AliasFor(annotation = KafkaListener.class)
        String errorHandler() default "";

        @AliasFor(annotation = KafkaListener.class)
        String batch() default "";

        @AliasFor(annotation = KafkaListener.class)
        String[] properties() default {};

        @AliasFor(annotation = IdempotentListener.class)
        String consumer() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String key() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String version() default "";

        @AliasFor(annotation = IdempotentListener.class)
        Strategy strategy() default Strategy.MESSAGE_ID;

        @AliasFor(annotation = IdempotentListener.class)
        String uniqueConstraint() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String retention() default "";

        @AliasFor(annotation = IdempotentListener.class)
        OnConflict conflicts() default OnConflict.DEFAULT;

        @AliasFor(annotation = IdempotentListener.class)
        String inbox() default "";

        @AliasFor(annotation = IdempotentListener.class)
        boolean keepReply() default false;

        @AliasFor(annotation = IdempotentListener.class)
        String transactionPerPoll() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String transactionManager() default "";
    }

    static final class FinalClass {

        @Faulty
        void finalClass(String payload) {}
    }

    static class Unproxied {

        @Faulty
        final void finalMethod(String payload) {}

        @Faulty
        static void staticMethod(String payload) {}
    }

    static class Replaced {

        @Faulty
        void replaced(String payload) {}
    }

    /** In a proxy of somebody else's, around the proxy that claims: nothing is wrong with it. */
    static class Wrapped {

        @Faulty
        void wrapped(String payload) {}
    }

    static class Frozen {

        @Faulty
        void frozen(String payload) {}
    }

    static class Inherited extends InheritedListener {}

    /** Nothing is wrong with it: a proxy overrides what its class does not. */
    interface DefaultListener {

        @Faulty
        default void byDefault(String payload) {}
    }

    static class ByDefault implements DefaultListener {}

    abstract static class GenericListener<T> {

        @Faulty
        abstract void bridged(T payload);

        @Faulty
        void generic(T payload) {}
    }

    /** Nothing is wrong with it either. */
    static class Bridged extends GenericListener<String> {

        @Override
        void bridged(String payload) {}
    }

    interface Listens {

        void finalBehindInterface(String payload);
    }

    /** In a proxy of its interface, around the proxy of its class, which cannot override the method. */
    static class FinalBehindInterface implements Listens {

        @Override
        @Faulty
        public final void finalBehindInterface(String payload) {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Advised {

        @InBackground
        @Faulty
        void inBackground(String payload) {}

        @Faulty
        void adviceRequiresNew(String payload) {}

        @Faulty
        void adviceReadOnly(String payload) {}

        @Faulty
        void adviceOfAnotherManager(String payload) {}

        @Faulty
        void adviceRequired(String payload) {}

        @Transactional(propagation = Propagation.NESTED, timeoutString = "${nowhere.set:7}")
        @Faulty
        void nested(String payload) {}
    }

    static class TransactionAround {

        @Faulty
        void transactionAround(String payload) {}
    }

    static class Early {

        @Faulty
        void early(String payload) {}
    }

    static class NoListener {

        @IdempotentListener
        void noListener(String payload) {}
    }

    @IdempotentListener
    static class NoListenerInClass {

        void on(String payload) {}
    }

    @IdempotentListener
    static class HandlerWithoutListener {

        @KafkaHandler
        void handlerWithoutListener(String payload) {}
    }

    static class DeadLetters {

        @DltHandler
        @IdempotentListener
        void deadLetters(String payload) {}
    }

    static class Asynchronous {

        @Faulty
        CompletableFuture<Void> future(String payload) {
            return CompletableFuture.completedFuture(null);
        }

        @Faulty
        void suspend(String payload, Continuation<Void> continuation) {}

        @Async
        @Faulty
        void async(String payload) {}
    }

    @Async
    static class AsynchronousClass {

        @Faulty
        void asyncClass(String payload) {}
    }

    static class Attributes {

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @Faulty
        void requiresNew(String payload) {}

        @Transactional(propagation = Propagation.SUPPORTS)
        @Faulty
        void supports(String payload) {}

        @Transactional(readOnly = true)
        @Faulty
        void readOnly(String payload) {}

        @Transactional(noRollbackFor = IllegalStateException.class)
        @Faulty
        void noRollback(String payload) {}
    }

    static class Names {

        @Faulty(topics = "one", consumer = "ledger")
        void first(String payload) {}

        @Faulty(topics = "two", consumer = "ledger")
        void second(String payload) {}

        @KafkaListener(topicPartitions = @TopicPartition(topic = "one", partitions = "0,1"), groupId = "g")
        @IdempotentListener("assigned")
        void onePartition(String payload) {}

        @KafkaListener(topicPartitions = @TopicPartition(topic = "one", partitions = "2"), groupId = "g")
        @IdempotentListener("assigned")
        void otherPartition(String payload) {}

        @Faulty(topics = "one", groupId = "one group", consumer = "audit")
        void oneGroup(String payload) {}

        @Faulty(topics = "one", groupId = "another group", consumer = "audit")
        void anotherGroup(String payload) {}

        @Faulty(topics = "one", consumer = "${long.name}")
        void tooLong(String payload) {}

        @Faulty(topics = "one", consumer = "${nowhere.set}")
        void unresolved(String payload) {}

        @Faulty(topics = "one", groupId = "${random.uuid}")
        void randomGroup(String payload) {}

        @KafkaListener(topics = "one")
        @IdempotentListener
        void randomGroupOfAll(String payload) {}

        @Faulty(topics = "one", consumer = "of-${group.of-instance}")
        void randomName(String payload) {}
    }

    static class Keys {

        @Faulty(key = "#order.id")
        void unknownVariable(String payload) {}

        @Faulty(key = "order.id + '/' + #order")
        void withoutVariable(String order) {}

        @Faulty(key = "#record")
        void recordKey(String payload) {}

        @Faulty(key = "T(java.util.UUID).randomUUID()")
        void randomKey(String payload) {}

        @Faulty(key = "'payment'")
        void constantKey(String payload) {}

        @Faulty(key = "#record.offset()")
        void offsetKey(String payload) {}

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "T(java.time.Instant).now()")
        void versionOfTheClock(String payload) {}

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "#record.timestamp()")
        void versionOfTheRecord(String payload) {}

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "1")
        void constantVersion(String payload) {}

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "#order.version")
        void unknownVersion(String payload) {}

        @Faulty(key = "#payload", version = "#payload.length()")
        void versionOfAnId(String payload) {}

        @Faulty(strategy = Strategy.VERSION, inbox = "true", keepReply = true)
        String versionOfNothing(String payload) {
            return payload;
        }

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "#payload.length()")
        void soundVersion(String payload) {}
    }

    static class Containers {

        @Faulty(properties = "enable.auto.commit=true")
        void autoCommit(String payload) {}

        @Faulty(containerPostProcessor = "asyncAcks")
        void asyncAcks(String payload, Acknowledgment acknowledgment) {}

        @Faulty(containerPostProcessor = "manualAcks")
        void neverAcknowledged(String payload) {}

        @Faulty(containerPostProcessor = "count")
        void count(String payload) {}

        @Faulty(containerPostProcessor = "time")
        void time(String payload) {}

        @Faulty(containerPostProcessor = "containerTransactions")
        void containerTransaction(String payload) {}

        @Faulty(containerPostProcessor = "transactionAdvice")
        void transactionAdvice(String payload) {}

        @SendTo("replies")
        @Faulty
        String sendTo(String payload) {
            return payload;
        }

        @Faulty
        String reply(String payload) {
            return payload;
        }

        @Faulty(containerPostProcessor = "dropping")
        void dropping(String payload) {}

        @Faulty(containerPostProcessor = "logging")
        void logging(String payload) {}

        @Faulty(containerPostProcessor = "recovering")
        void recovering(String payload) {}

        @Faulty(errorHandler = "swallowing")
        void swallowing(String payload) {}

        @Faulty(batch = "true")
        void singleOfBatch(Long payload) {}

        @Faulty(batch = "true")
        void batch(List<String> payloads) {}
    }

    static class Constraints {

        @Faulty(strategy = Strategy.UNIQUE_CONSTRAINT)
        void constraintUnnamed(String payload) {}

        @Faulty(uniqueConstraint = "payment_pkey")
        void constraintUnused(String payload) {}

        @Faulty(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "idempotency_processed_key")
        void constraintMissing(String payload) {}

        @Faulty(
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "idempotency_processed_pkey",
                key = "#payload",
                retention = "1d",
                inbox = "true",
                keepReply = true)
        @Transactional(noRollbackFor = IllegalStateException.class)
        String constraintAndMore(String payload) {
            return payload;
        }
    }

    static class Constrained {

        @Faulty(
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "${idempotency.of:idempotency}_processed_pkey")
        void constrained(String payload) {}
    }

    static class Ungrouped {

        @KafkaListener(topicPartitions = @TopicPartition(topic = "t", partitions = "0"))
        @IdempotentListener("ungrouped")
        void ungrouped(String payload) {}
    }

    static class Retentions {

        @Faulty(retention = "60000d")
        void beyondMeasure(String payload) {}

        @Faulty(retention = "0s")
        void none(String payload) {}
    }

    static class Several {

        @Faulty(
                properties = "enable.auto.commit=true",
                key = "#nothing",
                retention = "soon",
                transactionManager = "nobody")
        private CompletableFuture<Void> several(String payload) {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class KeptReplies {

        @Faulty(consumer = "kept-void", keepReply = true)
        void keptNothing(String payload) {}

        @Faulty(batch = "true", consumer = "kept-batch", keepReply = true)
        String keptOfBatch(List<String> payloads) {
            return "";
        }

        @Faulty(consumer = "kept-poll", keepReply = true, transactionPerPoll = "true")
        String keptOfPoll(String payload) {
            return "";
        }

        @Faulty(consumer = "kept-message", keepReply = true)
        Message<String> keptMessage(Message<String> message) {
            return message;
        }

        @Bean
        IdempotentConsumer declared() {
            return IdempotentConsumer.named("declared");
        }

        @Faulty(consumer = "declared", key = "#payload")
        void declaredName(String payload) {}

        @Faulty(consumer = "kept", keepReply = true)
        String keptReply(String payload) {
            return "";
        }
    }

    static class Strategies {

        @Faulty(consumer = "offsets", strategy = Strategy.OFFSET)
        void offsets(String payload) {}

        @Faulty(consumer = "two-strategies", strategy = Strategy.OFFSET)
        void offsetsBesideIds(String payload) {}

        @Faulty(consumer = "two-strategies", key = "#payload")
        void idsBesideOffsets(String payload) {}

        @Faulty(consumer = "offsets-key", strategy = Strategy.OFFSET, key = "#payload")
        void offsetsWithKey(String payload) {}

        @Faulty(consumer = "offsets-inbox", strategy = Strategy.OFFSET, inbox = "true")
        void offsetsWithInbox(String payload) {}

        @Faulty(consumer = "offsets-reply", strategy = Strategy.OFFSET, keepReply = true)
        String offsetsWithReply(String payload) {
            return "";
        }

        @RetryableTopic
        @Faulty(consumer = "offsets-retries", strategy = Strategy.OFFSET)
        void offsetsWithRetryTopics(String payload) {}

        @Faulty(consumer = "offsets-conflicts", strategy = Strategy.OFFSET, conflicts = OnConflict.FAIL)
        void offsetsWithConflicts(String payload) {}

        @Faulty(
                strategy = Strategy.VERSION,
                key = "#payload",
                version = "#payload.length()",
                conflicts = OnConflict.FAIL)
        void versionsWithConflicts(String payload) {}

        @Faulty(
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "idempotency_processed_pkey",
                conflicts = OnConflict.WARN)
        void constraintWithConflicts(String payload) {}

        @Faulty(strategy = Strategy.VERSION, key = "#payload", version = "${no.such.version:}")
        void versionOfNoText(String payload) {}

        @Faulty(
                consumer = "offsets-without-text",
                strategy = Strategy.OFFSET,
                key = "${no.such.key:}",
                retention = "${no.such.retention:}")
        void offsetsWithoutText(String payload) {}
    }

    static class PerPoll {

        @Faulty(key = "#record.key()", transactionPerPoll = "true")
        void perPoll(String payload) {}

        @Faulty(key = "#payload", transactionPerPoll = "true")
        void payloadKeyPerPoll(Long payload) {}

        @Faulty(key = "#payload", transactionPerPoll = "true")
        void textKeyPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "manualAcks", transactionPerPoll = "true")
        void manualAckPerPoll(String payload, Acknowledgment acknowledgment) {}

        @Faulty(transactionPerPoll = "true")
        String replyPerPoll(String payload) {
            return payload;
        }

        @RetryableTopic
        @Faulty(transactionPerPoll = "true")
        void retryTopicsPerPoll(String payload) {}

        @Faulty(transactionPerPoll = "true")
        @Transactional(noRollbackFor = IllegalStateException.class)
        void noRollbackPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "countingAttempts", transactionPerPoll = "true")
        void attemptsPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "advised", transactionPerPoll = "true")
        void advisedPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "intercepted", transactionPerPoll = "true")
        void interceptedPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "recordsOnly", transactionPerPoll = "true")
        void recordErrorsPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "recordsOnly", batch = "true")
        void recordErrorsOfBatch(List<String> payloads) {}

        @Faulty(containerPostProcessor = "recordsOnly")
        void recordErrors(String payload) {}
    }

    /** Of topics that a bean gives retry topics to. */
    static class RetriedByBean {

        @Faulty(topics = "retried-by-bean", strategy = Strategy.OFFSET)
        void offsetsWithRetriesByBean(String payload) {}

        @Faulty(topics = "retried-by-bean", transactionPerPoll = "true")
        void retriesByBeanPerPoll(String payload) {}

        @Bean
        static RetryTopicConfiguration retries(KafkaTemplate<?, ?> template) {
            return RetryTopicConfigurationBuilder.newInstance()
                    .includeTopic("retried-by-bean")
                    .create(template);
        }
    }

    @Faulty(transactionPerPoll = "true")
    static class HandlersPerPoll {

        @KafkaHandler
        void handlerPerPoll(String payload) {}

        @KafkaHandler
        void otherHandlerPerPoll(Long payload) {}
    }

    @KafkaListener(topics = "t", groupId = "g")
    static class SomeHandlersPerPoll {

        @KafkaHandler
        @IdempotentListener(transactionPerPoll = "true")
        void handlerOfSomePerPoll(String payload) {}

        @KafkaHandler
        void unprotected(Long payload) {}
    }

    @Faulty
    static class OneHandlerPerPoll {

        @KafkaHandler
        @IdempotentListener(transactionPerPoll = "true")
        void handlerOfOnePerPoll(String payload) {}

        @KafkaHandler
        void perRecord(Long payload) {}
    }

    @Faulty(transactionPerPoll = "true")
    static class HandlersWithTimesPerPoll {

        @KafkaHandler
        @Transactional(timeout = 1)
        void handlerOfTimesPerPoll(String payload) {}

        @KafkaHandler
        @Transactional(timeout = 2)
        void slowerHandlerPerPoll(Long payload) {}
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> asyncAcks() {
        return container -> {
            container.getContainerProperties().setAckMode(AckMode.MANUAL);
            container.getContainerProperties().setAsyncAcks(true);
        };
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> manualAcks() {
        return container -> container.getContainerProperties().setAckMode(AckMode.MANUAL);
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> count() {
        return container -> {
            container.getContainerProperties().setAckMode(AckMode.COUNT);
            container.getContainerProperties().setAckCount(500);
        };
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> time() {
        return container -> {
            container.getContainerProperties().setAckMode(AckMode.TIME);
            container.getContainerProperties().setAckTime(8 * 86_400_000L);
        };
    }

    @Bean
    @SuppressWarnings("removal") // Still in force where it is set.
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> containerTransactions(
            PlatformTransactionManager transactionManager) {
        return container -> container.getContainerProperties().setTransactionManager(transactionManager);
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> transactionAdvice(
            TransactionManager transactionManager) {
        return container -> container
                .getContainerProperties()
                .setAdviceChain(
                        new TransactionInterceptor(transactionManager, new MatchAlwaysTransactionAttributeSource()));
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> dropping() {
        return container -> container.setCommonErrorHandler(new DefaultErrorHandler(new FixedBackOff(10, 3)));
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> logging() {
        return container -> container.setCommonErrorHandler(new CommonLoggingErrorHandler());
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> recovering(
            KafkaTemplate<?, ?> template) {
        return container -> container.setCommonErrorHandler(new DefaultErrorHandler(
                new DeadLetterPublishingRecoverer(template)::accept, new FixedBackOff(1000, 10)));
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> recordsOnly() {
        return container -> container.setCommonErrorHandler(new CommonErrorHandler() {});
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> intercepted() {
        return container -> container.setRecordInterceptor((record, consumer) -> record);
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> countingAttempts() {
        return container -> container.getContainerProperties().setDeliveryAttemptHeader(true);
    }

    @Bean
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> advised() {
        return container ->
                container.getContainerProperties().setAdviceChain((MethodInterceptor) MethodInvocation::proceed);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor transactionAdvisor(BeanFactory beanFactory) {
        var attributes = new NameMatchTransactionAttributeSource();
        attributes.setNameMap(Map.of(
                "adviceRequired", new DefaultTransactionAttribute(),
                "adviceRequiresNew", new DefaultTransactionAttribute(TransactionDefinition.PROPAGATION_REQUIRES_NEW),
                "adviceReadOnly", readOnly()));
        TransactionInterceptor interceptor = new TransactionInterceptor();
        interceptor.setBeanFactory(beanFactory);
        return advisor("advice*", interceptor, attributes);
    }

    private static TransactionAttribute readOnly() {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        attribute.setReadOnly(true);
        return attribute;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor advisorOfAnotherManager() {
        TransactionInterceptor interceptor = new TransactionInterceptor();
        interceptor.setTransactionManager(
                new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:another")));
        return advisor("adviceOfAnotherManager", interceptor, new MatchAlwaysTransactionAttributeSource());
    }

    private static Advisor advisor(
            String methods, TransactionInterceptor interceptor, TransactionAttributeSource attributes) {
        NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
        pointcut.setMappedName(methods);
        interceptor.setTransactionAttributeSource(attributes);
        return new DefaultPointcutAdvisor(pointcut, interceptor);
    }

    @Bean
    KafkaListenerErrorHandler swallowing() {
        return (message, exception) -> "swallowed";
    }

    @Bean
    ThreadPoolTaskScheduler retryTopicScheduler() {
        return new ThreadPoolTaskScheduler();
    }

    /** Needs a listener, which is therefore created before Spring Kafka looks at beans. */
    @Bean
    static OrderedPostProcessor needsListener(Early early) {
        return new OrderedPostProcessor() {};
    }

    @Bean
    static OrderedPostProcessor replacesProxies() {
        return new OrderedPostProcessor() {

            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                if (bean instanceof Replaced) {
                    Object target = AopProxyUtils.getSingletonTarget(bean);
                    ProxyFactory proxyFactory = new ProxyFactory((target != null) ? target : bean);
                    proxyFactory.setProxyTargetClass(true);
                    return proxyFactory.getProxy();
                }
                if (bean instanceof Frozen && bean instanceof org.springframework.aop.framework.Advised proxy) {
                    ProxyFactory proxyFactory = new ProxyFactory(AopProxyUtils.getSingletonTarget(bean));
                    proxyFactory.setProxyTargetClass(true);
                    proxyFactory.addAdvisors(proxy.getAdvisors());
                    proxyFactory.setFrozen(true);
                    return proxyFactory.getProxy();
                }
                if (bean instanceof FinalBehindInterface) {
                    ProxyFactory proxyFactory = new ProxyFactory();
                    proxyFactory.addInterface(Listens.class);
                    proxyFactory.setTarget(bean);
                    return proxyFactory.getProxy();
                }
                if (bean instanceof TransactionAround) {
                    ProxyFactory proxyFactory = new ProxyFactory(bean);
                    proxyFactory.setProxyTargetClass(true);
                    TransactionInterceptor interceptor = new TransactionInterceptor();
                    interceptor.setTransactionAttributeSource(new MatchAlwaysTransactionAttributeSource());
                    proxyFactory.addAdvice(interceptor);
                    return proxyFactory.getProxy();
                }
                if (bean instanceof Wrapped) {
                    ProxyFactory proxyFactory = new ProxyFactory(bean);
                    proxyFactory.setProxyTargetClass(true);
                    return proxyFactory.getProxy();
                }
                return bean;
            }
        };
    }

    /** After auto-proxying, and before Spring Kafka. */
    abstract static class OrderedPostProcessor implements BeanPostProcessor, Ordered {

        @Override
        public int getOrder() {
            return 0;
        }
    }
}
