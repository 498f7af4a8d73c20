package dev.idempotency.internal.check;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.check.elsewhere.InheritedListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AliasFor;
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
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
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
        String info() default "";

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
        String lock() default "";

        @AliasFor(annotation = IdempotentListener.class)
        DeduplicationStrategy strategy() default DeduplicationStrategy.MESSAGE_ID;

        @AliasFor(annotation = IdempotentListener.class)
        String uniqueConstraint() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String retention() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String onConflict() default "";

        @AliasFor(annotation = IdempotentListener.class)
        String inbox() default "";

        @AliasFor(annotation = IdempotentListener.class)
        boolean storeReply() default false;

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

    static class Inherited extends InheritedListener {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Advised {

        @InBackground
        @Faulty
        void inBackground(String payload) {}

        @Faulty
        void advised(String payload) {}

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

        @Async
        @Faulty
        void async(String payload) {}
    }

    static class Attributes {

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

        record Event(String id) {}

        @Faulty(key = "#event.idd")
        void misspelled(Event event) {}

        @Faulty(key = "#payload.id")
        void partOfText(String payload) {}

        @Faulty(key = "T(java.util.UUID).randomUUID()")
        void randomKey(String payload) {}

        @Faulty(key = "'payment'")
        void constantKey(String payload) {}

        @Faulty(key = "#record.offset()")
        void offsetKey(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "T(java.time.Instant).now()")
        void versionOfTheClock(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "#record.timestamp()")
        void versionOfTheRecord(String payload) {}

        @Faulty(key = "#payload", version = "#payload.length()")
        void versionOfAnId(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.VERSION, inbox = "true", storeReply = true)
        String versionOfNothing(String payload) {
            return payload;
        }

        @Faulty(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "#payload.isEmpty()")
        void versionOfNoOrder(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "#payload.length()")
        void soundVersion(String payload) {}
    }

    static class Locks {

        @Faulty(key = "#payload", lock = "#order.customerId")
        void unknownLock(String payload) {}

        @Faulty(key = "#payload", lock = "T(java.util.UUID).randomUUID()")
        void randomLock(String payload) {}

        @Transactional(isolation = Isolation.REPEATABLE_READ)
        @Faulty(key = "#payload", lock = "#payload")
        void lockTooLate(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", concurrency = "20")
        @IdempotentListener(lock = "'one for all'", claimAtCommit = "true")
        void lockAtCommit(String payload) {}
    }

    static class SoundLock {

        @Faulty(lock = "'one for all'")
        void soundLock(String payload) {}
    }

    static class Containers {

        @Faulty(properties = "enable.auto.commit=true")
        void autoCommit(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "asyncAcks")
        void asyncAcks(String payload, Acknowledgment acknowledgment) {}

        @Faulty(containerPostProcessor = "settings", info = "manualAcks")
        void neverAcknowledged(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "containerTransactions")
        void containerTransaction(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "transactionAdvice")
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

        @Faulty(containerPostProcessor = "settings", info = "dropping")
        void dropping(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "logging")
        void logging(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "recovering")
        void recovering(String payload) {}

        @Faulty(errorHandler = "swallowing")
        void swallowing(String payload) {}

        @Faulty(batch = "true")
        void singleOfBatch(Long payload) {}

        @Faulty(batch = "true")
        void batch(List<String> payloads) {}
    }

    static class Constraints {

        @Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT)
        void constraintUnnamed(String payload) {}

        @Faulty(uniqueConstraint = "payment_pkey")
        void constraintUnused(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "idempotency_processed_key")
        void constraintMissing(String payload) {}

        @Faulty(
                strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "idempotency_processed_pkey",
                key = "#payload",
                retention = "1d",
                inbox = "true",
                onConflict = "fail",
                storeReply = true)
        @Transactional(noRollbackFor = IllegalStateException.class)
        String constraintAndMore(String payload) {
            return payload;
        }
    }

    static class Constrained {

        @Faulty(
                strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "${idempotency.of:idempotency}_processed_pkey")
        void constrained(String payload) {}
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

    static class StoredReplies {

        @Faulty(consumer = "kept-void", storeReply = true)
        void keptNothing(String payload) {}

        @Faulty(batch = "true", consumer = "kept-batch", storeReply = true)
        String keptOfBatch(List<String> payloads) {
            return "";
        }

        @Faulty(consumer = "kept-poll", storeReply = true, transactionPerPoll = "true")
        String keptOfPoll(String payload) {
            return "";
        }

        @Faulty(consumer = "kept-message", storeReply = true)
        Message<String> keptMessage(Message<String> message) {
            return message;
        }

        @Bean
        IdempotentConsumer declared() {
            return IdempotentConsumer.named("declared");
        }

        @Faulty(consumer = "declared", key = "#payload")
        void declaredName(String payload) {}

        @Faulty(consumer = "kept", storeReply = true)
        String keptReply(String payload) {
            return "";
        }
    }

    static class Strategies {

        @Faulty(consumer = "offsets", strategy = DeduplicationStrategy.OFFSET)
        void offsets(String payload) {}

        @Faulty(consumer = "two-strategies", strategy = DeduplicationStrategy.OFFSET)
        void offsetsBesideIds(String payload) {}

        @Faulty(consumer = "two-strategies", key = "#payload")
        void idsBesideOffsets(String payload) {}

        @Faulty(consumer = "offsets-key", strategy = DeduplicationStrategy.OFFSET, key = "#payload")
        void offsetsWithKey(String payload) {}

        @RetryableTopic
        @Faulty(topics = "retried", consumer = "offsets-retries", strategy = DeduplicationStrategy.OFFSET)
        void offsetsWithRetryTopics(String payload) {}

        @Faulty(strategy = DeduplicationStrategy.VERSION, key = "#payload", version = "${no.such.version:}")
        void versionOfNoText(String payload) {}

        @Faulty(
                consumer = "offsets-without-text",
                strategy = DeduplicationStrategy.OFFSET,
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

        @Faulty(containerPostProcessor = "settings", info = "manualAcks", transactionPerPoll = "true")
        void manualAckPerPoll(String payload, Acknowledgment acknowledgment) {}

        @Faulty(transactionPerPoll = "true")
        String replyPerPoll(String payload) {
            return payload;
        }

        @RetryableTopic
        @Faulty(topics = "retried-per-poll", transactionPerPoll = "true")
        void retryTopicsPerPoll(String payload) {}

        @Faulty(transactionPerPoll = "true")
        @Transactional(noRollbackFor = IllegalStateException.class)
        void noRollbackPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "intercepted", transactionPerPoll = "true")
        void interceptedPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "observed", transactionPerPoll = "true")
        void observedPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "recordsOnly", transactionPerPoll = "true")
        void recordErrorsPerPoll(String payload) {}

        @Faulty(containerPostProcessor = "settings", info = "recordsOnly", batch = "true")
        void recordErrorsOfBatch(List<String> payloads) {}

        @Faulty(containerPostProcessor = "settings", info = "recordsOnly")
        void recordErrors(String payload) {}
    }

    @Faulty(transactionPerPoll = "true")
    static class HandlersPerPoll {

        @KafkaHandler
        void handlerPerPoll(String payload) {}

        @KafkaHandler
        void otherHandlerPerPoll(Long payload) {}
    }

    /** Of topics of a broker that creates none. */
    @Configuration(proxyBeanMethods = false)
    static class OnBroker {

        @Faulty(topics = "month", groupId = "month")
        void month(String payload) {}

        @Faulty(topics = "week", groupId = "week")
        void week(String payload) {}

        @KafkaListener(topicPattern = "forever|compacted", groupId = "pattern")
        @IdempotentListener
        void pattern(String payload) {}

        @Bean
        NewTopic deadLettersOfWeek() {
            return new NewTopic("week-dlt", 1, (short) 1);
        }
    }

    @Bean
    @SuppressWarnings("removal") // Still in force where it is set.
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> settings(
            PlatformTransactionManager transactionManager, KafkaTemplate<?, ?> template) {
        return container -> {
            ContainerProperties properties = container.getContainerProperties();
            switch (new String(container.getListenerInfo(), StandardCharsets.UTF_8)) {
                case "asyncAcks" -> {
                    properties.setAckMode(AckMode.MANUAL);
                    properties.setAsyncAcks(true);
                }
                case "manualAcks" -> properties.setAckMode(AckMode.MANUAL);
                case "containerTransactions" -> properties.setTransactionManager(transactionManager);
                case "transactionAdvice" -> properties.setAdviceChain(transactionInterceptor());
                case "observed" -> properties.setObservationEnabled(true);
                case "intercepted" -> container.setRecordInterceptor((record, consumer) -> record);
                case "dropping" -> container.setCommonErrorHandler(new DefaultErrorHandler(new FixedBackOff(10, 3)));
                case "logging" -> container.setCommonErrorHandler(new CommonLoggingErrorHandler());
                case "recordsOnly" -> container.setCommonErrorHandler(new CommonErrorHandler() {});
                case "recovering" ->
                    container.setCommonErrorHandler(new DefaultErrorHandler(
                            new DeadLetterPublishingRecoverer(template)::accept, new FixedBackOff(1000, 10)));
                default -> throw new IllegalArgumentException();
            }
        };
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor transactionAdvisor() {
        NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
        pointcut.setMappedName("advised");
        return new DefaultPointcutAdvisor(pointcut, transactionInterceptor());
    }

    private static TransactionInterceptor transactionInterceptor() {
        TransactionInterceptor interceptor = new TransactionInterceptor();
        interceptor.setTransactionAttributeSource(new MatchAlwaysTransactionAttributeSource());
        return interceptor;
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
                    return proxyOf(AopProxyUtils.getSingletonTarget(bean)).getProxy();
                }
                if (bean instanceof TransactionAround) {
                    ProxyFactory proxyFactory = proxyOf(bean);
                    proxyFactory.addAdvice(transactionInterceptor());
                    return proxyFactory.getProxy();
                }
                return (bean instanceof Wrapped) ? proxyOf(bean).getProxy() : bean;
            }

            private static ProxyFactory proxyOf(Object bean) {
                ProxyFactory proxyFactory = new ProxyFactory(bean);
                proxyFactory.setProxyTargetClass(true);
                return proxyFactory;
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
