package dev.idempotency.internal.check;

import static dev.idempotency.DeduplicationStrategy.OFFSET;
import static dev.idempotency.DeduplicationStrategy.UNIQUE_CONSTRAINT;
import static dev.idempotency.DeduplicationStrategy.VERSION;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.check.elsewhere.InheritedListener;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.UniqueConstraint;
import jakarta.persistence.Version;
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
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AliasFor;
import org.springframework.data.domain.Persistable;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
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

/** An application with nearly all faults at once. The nested classes are its listeners. */
@Configuration(proxyBeanMethods = false)
@EnableKafkaRetryTopic
@EntityScan(basePackageClasses = FaultyListeners.class)
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

        @Faulty(retention = "soon", transactionManager = "nobody")
        private void privateMethod(String payload) {}
    }

    static class Replaced {

        @Faulty
        void replaced(String payload) {}
    }

    /** Wrapped in another proxy around the claiming one, which is valid. */
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

    static class Methods {

        @Async
        @Faulty(consumer = "of-${group.of-instance}")
        CompletableFuture<Void> async(String payload) {
            return CompletableFuture.completedFuture(null);
        }

        @Transactional(readOnly = true, noRollbackFor = IllegalStateException.class)
        @Faulty(retention = "0s")
        void readOnlyWithoutRollback(String payload) {}
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

        @Faulty(topics = "one", consumer = "${nowhere.set}")
        void unresolved(String payload) {}

        @KafkaListener(topics = "one")
        @IdempotentListener
        void randomGroupOfAll(String payload) {}
    }

    static class Expressions {

        @Faulty(key = "#order.id", lock = "#order.customerId", info = "containerTransactions")
        void unknownVariables(String payload) {}

        @Faulty(key = "order.id + '/' + #order", retention = "60000d", info = "transactionAdvice")
        void withoutVariable(String order) {}

        record Event(String id) {}

        @Faulty(key = "#event.idd", uniqueConstraint = "payment_pkey", info = "dropping")
        void misspelled(Event event) {}

        @Faulty(key = "#payload.id", version = "#payload.length()", info = "logging")
        void partOfTextAndVersionOfAnId(String payload) {}

        @Faulty(strategy = VERSION, key = "T(java.util.UUID).randomUUID()", version = "#payload.isEmpty()")
        void randomKeyAndVersionOfNoOrder(String payload) {}

        @Faulty(strategy = VERSION, key = "'payment'", version = "T(java.time.Instant).now()", info = "manualAcks")
        void constantKeyAndVersionOfTheClock(String payload) {}

        @Faulty(strategy = VERSION, key = "#record.offset()", version = "#record.timestamp()")
        void offsetKeyAndVersionOfTheRecord(String payload) {}

        @Faulty(consumer = "${long.name}", strategy = VERSION, inbox = "true", storeReply = true)
        String versionOfNothing(String payload) {
            return payload;
        }

        @Faulty(strategy = VERSION, key = "#payload", version = "#payload.length()")
        void soundVersion(String payload) {}

        @Transactional(isolation = Isolation.REPEATABLE_READ)
        @Faulty(key = "#payload", lock = "T(java.util.UUID).randomUUID()")
        void randomLockTooLate(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", concurrency = "20")
        @IdempotentListener(lock = "'one for all'", claimAtCommit = "true")
        void lockAtCommit(String payload) {}
    }

    static class SoundLock {

        @Faulty(lock = "'one for all'")
        void soundLock(String payload) {}
    }

    static class Containers {

        @Faulty(info = "asyncAcks", transactionPerPoll = "true")
        void asyncAcks(String payload, Acknowledgment acknowledgment) {}

        @Faulty
        void acknowledgedInVain(String payload, Acknowledgment acknowledgment) {}

        @Faulty
        void acknowledgedPerhaps(
                String payload,
                @Header(name = KafkaHeaders.ACKNOWLEDGMENT, required = false) Acknowledgment acknowledgment) {}

        @SendTo("replies")
        @Faulty(properties = "enable.auto.commit=true")
        String sendTo(String payload) {
            return payload;
        }

        @Faulty(info = "recovering")
        void recovering(String payload) {}

        @Faulty(errorHandler = "swallowing")
        String reply(String payload) {
            return payload;
        }

        @Faulty(info = "recordsOnly", batch = "true")
        void singleOfBatch(Long payload) {}

        @Faulty(batch = "true")
        void batch(List<String> payloads) {}
    }

    static class Constrained {

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "${idempotency.of:idempotency}_processed_pkey")
        void constrained(String payload) {}
    }

    /** Listeners that save entities of these tables with a repository. */
    static class Entities {

        @Entity(name = "AssignedRow")
        static class AssignedRow {

            @Id
            String id;
        }

        @Entity
        @Table(name = "renamed")
        static class PrimitiveVersion {

            @Id
            String id;

            @Version
            long version;
        }

        @Entity(name = "Versioned")
        static class Versioned {

            @Id
            String id;

            @Version
            Long version;
        }

        @Entity(name = "Numbered")
        @Table(uniqueConstraints = @UniqueConstraint(name = "numbered_ref", columnNames = "reference"))
        static class Numbered {

            @Id
            @GeneratedValue
            Long id;

            @Column(nullable = false)
            String reference;
        }

        @Entity(name = "New")
        static class New implements Persistable<String> {

            @Id
            String id;

            @Override
            public String getId() {
                return this.id;
            }

            @Override
            public boolean isNew() {
                return true;
            }
        }

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "assigned_row_pkey")
        void assigned(String payload) {}

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "renamed_pkey")
        void primitive(String payload) {}

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "versioned_pkey")
        void versioned(String payload) {}

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "numbered_ref")
        void generated(String payload) {}

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "new_pkey")
        void isNew(String payload) {}
    }

    static class StoredReplies {

        @Faulty(batch = "true", consumer = "kept-batch", storeReply = true)
        String keptOfBatch(List<String> payloads) {
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

        @Faulty(consumer = "declared", storeReply = true)
        void keptNothingOfDeclaredName(String payload) {}

        @Faulty(consumer = "kept", storeReply = true)
        String keptReply(String payload) {
            return "";
        }
    }

    static class Strategies {

        @Faulty(strategy = UNIQUE_CONSTRAINT)
        void constraintUnnamed(String payload) {}

        @Faulty(strategy = UNIQUE_CONSTRAINT, uniqueConstraint = "idempotency_processed_key")
        void constraintMissing(String payload) {}

        @Faulty(
                strategy = UNIQUE_CONSTRAINT,
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

        @Faulty(consumer = "offsets", strategy = OFFSET)
        void offsets(String payload) {}

        @Faulty(consumer = "two-strategies", strategy = OFFSET)
        void offsetsBesideIds(String payload) {}

        @Faulty(consumer = "two-strategies", key = "#payload")
        void idsBesideOffsets(String payload) {}

        @RetryableTopic
        @Faulty(topics = "retried", strategy = OFFSET, key = "#payload", transactionPerPoll = "true")
        void offsetsWithKeyAndRetryTopics(String payload) {}

        @Faulty(strategy = VERSION, key = "#payload", version = "${no.such.version:}")
        void versionOfNoText(String payload) {}

        @Faulty(
                consumer = "offsets-without-text",
                strategy = OFFSET,
                key = "${no.such.key:}",
                retention = "${no.such.retention:}")
        void offsetsWithoutText(String payload) {}
    }

    static class PerPoll {

        @Faulty(key = "#record.key()", transactionPerPoll = "true")
        void perPoll(String payload) {}

        @Faulty(key = "#payload", transactionPerPoll = "true")
        void payloadKeyPerPoll(Long payload) {}

        @Faulty(transactionPerPoll = "true", storeReply = true)
        @Transactional(noRollbackFor = IllegalStateException.class)
        String replyPerPoll(String payload) {
            return payload;
        }

        @Faulty(info = "intercepted", transactionPerPoll = "true")
        void interceptedPerPoll(String payload) {}

        @Faulty(info = "observed", transactionPerPoll = "true", key = "#payload")
        void observedPerPoll(String payload) {}

        @Faulty(info = "recordsOnly", transactionPerPoll = "true")
        void recordErrorsPerPoll(String payload) {}

        @Faulty(info = "recordsOnly")
        void recordErrors(String payload) {}
    }

    @Faulty(transactionPerPoll = "true")
    static class HandlersPerPoll {

        @KafkaHandler
        void handlerPerPoll(String payload) {}

        @KafkaHandler
        void otherHandlerPerPoll(Long payload) {}
    }

    /** Listeners of topics on a broker that does not create topics. */
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
    @SuppressWarnings("removal") // Deprecated, but still in effect.
    ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> settings(
            PlatformTransactionManager transactionManager, KafkaTemplate<?, ?> template) {
        return container -> {
            ContainerProperties properties = container.getContainerProperties();
            byte[] info = container.getListenerInfo();
            switch ((info != null) ? new String(info, StandardCharsets.UTF_8) : "") {
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
                default -> {}
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

    /** Depends on a listener, which is therefore created before Spring Kafka processes beans. */
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

    /** Runs after auto-proxying and before Spring Kafka. */
    abstract static class OrderedPostProcessor implements BeanPostProcessor, Ordered {

        @Override
        public int getOrder() {
            return 0;
        }
    }
}
