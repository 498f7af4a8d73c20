package dev.idempotency.check;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.check.elsewhere.InheritedListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import kotlin.coroutines.Continuation;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.listener.adapter.DefaultBatchToRecordAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
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

/** An application that has nearly all faults at once. */
@Configuration(proxyBeanMethods = false)
@EnableKafkaRetryTopic
@EnableAsync(annotation = FaultyListeners.InBackground.class)
@Import({
    FaultyListeners.FinalClass.class,
    FaultyListeners.Unproxied.class,
    FaultyListeners.Replaced.class,
    FaultyListeners.Wrapped.class,
    FaultyListeners.Frozen.class,
    FaultyListeners.Inherited.class,
    FaultyListeners.ByDefault.class,
    FaultyListeners.Bridged.class,
    FaultyListeners.FinalBehindInterface.class,
    FaultyListeners.Advised.class,
    FaultyListeners.TransactionAround.class,
    FaultyListeners.Early.class,
    FaultyListeners.NoListener.class,
    FaultyListeners.NoListenerInClass.class,
    FaultyListeners.HandlerWithoutListener.class,
    FaultyListeners.DeadLetters.class,
    FaultyListeners.Asynchronous.class,
    FaultyListeners.AsynchronousClass.class,
    FaultyListeners.Attributes.class,
    FaultyListeners.Names.class,
    FaultyListeners.Keys.class,
    FaultyListeners.Containers.class,
    FaultyListeners.KeptReplies.class,
    FaultyListeners.Strategies.class,
    FaultyListeners.PerPoll.class,
    FaultyListeners.HandlersPerPoll.class,
    FaultyListeners.SomeHandlersPerPoll.class,
    FaultyListeners.OneHandlerPerPoll.class,
    FaultyListeners.HandlersWithTimesPerPoll.class,
    FaultyListeners.Retentions.class,
    FaultyListeners.Several.class,
    FaultyListeners.Constraints.class,
    FaultyListeners.Constrained.class
})
class FaultyListeners {

    static final class FinalClass {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void finalClass(String payload) {}
    }

    static class Unproxied {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        final void finalMethod(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        private void privateMethod(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        static void staticMethod(String payload) {}
    }

    static class Replaced {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void replaced(String payload) {}
    }

    /** In a proxy of somebody else's, around the proxy that claims: nothing is wrong with it. */
    static class Wrapped {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void wrapped(String payload) {}
    }

    static class Frozen {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void frozen(String payload) {}
    }

    static class Inherited extends InheritedListener {}

    /** Nothing is wrong with it: a proxy overrides what its class does not. */
    interface DefaultListener {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        default void byDefault(String payload) {}
    }

    static class ByDefault implements DefaultListener {}

    abstract static class GenericListener<T> {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        abstract void bridged(T payload);

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
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
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        public final void finalBehindInterface(String payload) {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Advised {

        @InBackground
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void inBackground(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void adviceRequiresNew(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void adviceNotSupported(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void adviceReadOnly(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void adviceOfAnotherManager(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void adviceRequired(String payload) {}

        @Transactional(propagation = Propagation.NESTED, timeoutString = "${nowhere.set:7}")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void nested(String payload) {}
    }

    static class TransactionAround {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void transactionAround(String payload) {}
    }

    static class Early {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
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

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        CompletableFuture<Void> future(String payload) {
            return CompletableFuture.completedFuture(null);
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        FutureTask<Void> task(String payload) {
            throw new UnsupportedOperationException();
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        Flow.Publisher<String> publisher(String payload) {
            throw new UnsupportedOperationException();
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void suspend(String payload, Continuation<Void> continuation) {}

        @Async
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void async(String payload) {}
    }

    @Async
    static class AsynchronousClass {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void asyncClass(String payload) {}
    }

    static class Attributes {

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void requiresNew(String payload) {}

        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void notSupported(String payload) {}

        @Transactional(propagation = Propagation.NEVER)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void never(String payload) {}

        @Transactional(propagation = Propagation.SUPPORTS)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void supports(String payload) {}

        @Transactional(propagation = Propagation.MANDATORY)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void mandatory(String payload) {}

        @Transactional(readOnly = true)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void readOnly(String payload) {}

        @Transactional(noRollbackFor = IllegalStateException.class)
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void noRollback(String payload) {}
    }

    static class Names {

        @KafkaListener(topics = "one", groupId = "g")
        @IdempotentListener("ledger")
        void first(String payload) {}

        @KafkaListener(topics = "two", groupId = "g")
        @IdempotentListener("ledger")
        void second(String payload) {}

        @KafkaListener(topicPartitions = @TopicPartition(topic = "one", partitions = "0,1"), groupId = "g")
        @IdempotentListener("assigned")
        void onePartition(String payload) {}

        @KafkaListener(topicPartitions = @TopicPartition(topic = "one", partitions = "1"), groupId = "g")
        @IdempotentListener("assigned")
        void samePartition(String payload) {}

        @KafkaListener(topicPartitions = @TopicPartition(topic = "one", partitions = "2"), groupId = "g")
        @IdempotentListener("assigned")
        void otherPartition(String payload) {}

        @KafkaListener(topics = "one", groupId = "one group")
        @IdempotentListener("audit")
        void oneGroup(String payload) {}

        @KafkaListener(topics = "one", groupId = "another group")
        @IdempotentListener("audit")
        void anotherGroup(String payload) {}

        @KafkaListener(topics = "one", groupId = "g")
        @IdempotentListener("${long.name}")
        void tooLong(String payload) {}

        @KafkaListener(topics = "one", groupId = "g")
        @IdempotentListener("${nowhere.set}")
        void unresolved(String payload) {}

        @KafkaListener(topics = "one", groupId = "${random.uuid}")
        @IdempotentListener
        void randomGroup(String payload) {}

        @KafkaListener(topics = "one", groupId = "${group.of-instance}")
        @IdempotentListener
        void randomGroupElsewhere(String payload) {}

        @KafkaListener(topics = "one")
        @IdempotentListener
        void randomGroupOfAll(String payload) {}

        @KafkaListener(topics = "one", groupId = "g")
        @IdempotentListener("of-${group.of-instance}")
        void randomName(String payload) {}
    }

    static class Keys {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#payload.[")
        void unparseable(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#order.id")
        void unknownVariable(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#hash(#payload)")
        void unknownFunction(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "@nobody.keyOf(#payload)")
        void unknownBean(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#root")
        void rootKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "order.id + '/' + #order")
        void withoutVariable(String order) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#record")
        void recordKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#acknowledgment + '/' + #payload")
        void acknowledgmentKey(String payload, Acknowledgment acknowledgment) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#record.timestamp()")
        void timestampKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#message.headers.id")
        void messageId(Message<String> message) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#message.headers['timestamp']")
        void messageTimestamp(Message<String> message) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#all.getId().toString()")
        void headersId(String payload, MessageHeaders all) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#uuid")
        void idHeader(String payload, @Header(MessageHeaders.ID) UUID uuid) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#payload + #attempt")
        void deliveryAttempt(String payload, @Header(KafkaHeaders.DELIVERY_ATTEMPT) int attempt) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#headers['kafka_deliveryAttempt']")
        void recordDeliveryAttempt(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "T(java.util.UUID).randomUUID()")
        void randomKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "'payment'")
        void constantKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#record.offset()")
        void offsetKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "T(java.time.Instant).now()")
        void versionOfTheClock(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "#record.timestamp()")
        void versionOfTheRecord(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "T(java.time.Instant) . now ( )")
        void versionOfTheClockWithBlanks(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#order.key()", version = "#order . timestamp()")
        void versionOfTheRecordByAnotherName(ConsumerRecord<String, String> order) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "#about.offset()")
        void versionOfTheRecordByItsMetadata(String payload, ConsumerRecordMetadata about) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "#at")
        void versionOfTheRecordByItsHeader(String payload, @Header(KafkaHeaders.RECEIVED_TIMESTAMP) long at) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#payload",
                version = "T(java.time.Clock).systemUTC().instant()")
        void versionOfAClock(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "@systemClock.millis()")
        void versionOfAClockBean(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#message.payload",
                version = "#message.headers['kafka_offset']")
        void versionOfTheRecordByAllItsHeaders(Message<String> message) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#payload",
                version = "T(java.util.Calendar).getInstance().time")
        void versionOfACalendar(String payload) {}

        @Bean
        static Clock systemClock() {
            return Clock.systemUTC();
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "1")
        void constantVersion(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "#order.version")
        void unknownVersion(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#payload", version = "#payload.length()")
        void versionOfAnId(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, inbox = "true", keepReply = true)
        String versionOfNothing(String payload) {
            return payload;
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "#payload.length()")
        void soundVersion(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#headers['id'] + #message.headers['order-id'] + #message.payload")
        void stableKey(Message<String> message) {}
    }

    static class Containers {

        @KafkaListener(topics = "t", groupId = "g", properties = "enable.auto.commit=true")
        @IdempotentListener
        void autoCommit(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "asyncAcks")
        @IdempotentListener
        void asyncAcks(String payload, Acknowledgment acknowledgment) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "manualAcks")
        @IdempotentListener
        void neverAcknowledged(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "count")
        @IdempotentListener
        void count(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "time")
        @IdempotentListener
        void time(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "containerTransactions")
        @IdempotentListener
        void containerTransaction(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "transactionAdvice")
        @IdempotentListener
        void transactionAdvice(String payload) {}

        @SendTo("replies")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        String sendTo(String payload) {
            return payload;
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        String reply(String payload) {
            return payload;
        }

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "dropping")
        @IdempotentListener
        void dropping(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "logging")
        @IdempotentListener
        void logging(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recovering")
        @IdempotentListener
        void recovering(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "endless")
        @IdempotentListener
        void endless(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", errorHandler = "swallowing")
        @IdempotentListener
        void swallowing(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "batchToRecord")
        @IdempotentListener
        void batchToRecord(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", batch = "true")
        @IdempotentListener
        void batch(List<String> payloads) {}
    }

    static class Constraints {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT)
        void constraintUnnamed(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(uniqueConstraint = "payment_pkey")
        void constraintUnused(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "idempotency_processed_key")
        void constraintMissing(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "idempotency_processed_pkey",
                key = "#payload",
                retention = "1d",
                inbox = "true",
                keepReply = true)
        @Transactional(noRollbackFor = IllegalStateException.class, propagation = Propagation.NESTED)
        String constraintAndMore(String payload) {
            return payload;
        }
    }

    static class Constrained {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
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

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(retention = "soon")
        void noDuration(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(retention = "60000d")
        void beyondMeasure(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(retention = "0s")
        void none(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recovering")
        @IdempotentListener(retention = "9s")
        void shorterThanBackOff(String payload) {}

        @RetryableTopic(attempts = "4", backOff = @BackOff(delay = 3_600_000))
        @KafkaListener(id = "retried", topics = "retried", groupId = "g")
        @IdempotentListener(retention = "2h")
        void shorterThanRetryTopics(String payload) {}
    }

    static class Several {

        @KafkaListener(topics = "t", groupId = "g", properties = "enable.auto.commit=true")
        @IdempotentListener(key = "#nothing", retention = "soon", transactionManager = "nobody")
        private CompletableFuture<Void> several(String payload) {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class KeptReplies {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "kept-void", keepReply = true)
        void keptNothing(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", batch = "true")
        @IdempotentListener(consumer = "kept-batch", keepReply = true)
        String keptOfBatch(List<String> payloads) {
            return "";
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "kept-poll", keepReply = true, transactionPerPoll = "true")
        String keptOfPoll(String payload) {
            return "";
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "kept-object", keepReply = true)
        Object keptAnything(String payload) {
            return "";
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "kept-message", keepReply = true)
        Message<String> keptMessage(Message<String> message) {
            return message;
        }

        @Bean
        IdempotentConsumer declared() {
            return IdempotentConsumer.named("declared");
        }

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "declared", key = "#payload")
        void declaredName(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "kept", keepReply = true)
        String keptReply(String payload) {
            return "";
        }
    }

    static class Strategies {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets", strategy = Strategy.OFFSET)
        void offsets(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "two-strategies", strategy = Strategy.OFFSET)
        void offsetsBesideIds(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "two-strategies", key = "#payload")
        void idsBesideOffsets(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-key", strategy = Strategy.OFFSET, key = "#payload")
        void offsetsWithKey(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-retention", strategy = Strategy.OFFSET, retention = "30d")
        void offsetsWithRetention(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-inbox", strategy = Strategy.OFFSET, inbox = "true")
        void offsetsWithInbox(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-reply", strategy = Strategy.OFFSET, keepReply = true)
        String offsetsWithReply(String payload) {
            return "";
        }

        @RetryableTopic
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-retries", strategy = Strategy.OFFSET)
        void offsetsWithRetryTopics(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(consumer = "offsets-conflicts", strategy = Strategy.OFFSET, conflicts = OnConflict.FAIL)
        void offsetsWithConflicts(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#payload",
                version = "#payload.length()",
                conflicts = OnConflict.FAIL)
        void versionsWithConflicts(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "idempotency_processed_pkey",
                conflicts = OnConflict.WARN)
        void constraintWithConflicts(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "#payload", version = "${no.such.version:}")
        void versionOfNoText(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.VERSION, key = "${no.such.key:}", version = "#payload.length()")
        void versionOfNoEntity(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "${no.such.constraint:}")
        void constraintOfNoText(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(
                consumer = "offsets-without-text",
                strategy = Strategy.OFFSET,
                key = "${no.such.key:}",
                retention = "${no.such.retention:}")
        void offsetsWithoutText(String payload) {}
    }

    static class PerPoll {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#record.key()", transactionPerPoll = "true")
        void perPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", batch = "true")
        @IdempotentListener(key = "#payload", transactionPerPoll = "true")
        void batchPerPoll(List<String> payloads) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#payload", transactionPerPoll = "true")
        void payloadKeyPerPoll(Long payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#number", transactionPerPoll = "true")
        void argumentKeyPerPoll(Long number) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#payload", transactionPerPoll = "true")
        void textKeyPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recordAcks")
        @IdempotentListener(transactionPerPoll = "true")
        void recordAckPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "manualAcks")
        @IdempotentListener(transactionPerPoll = "true")
        void manualAckPerPoll(String payload, Acknowledgment acknowledgment) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionPerPoll = "true")
        String replyPerPoll(String payload) {
            return payload;
        }

        @RetryableTopic
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionPerPoll = "true")
        void retryTopicsPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionPerPoll = "true")
        @Transactional(noRollbackFor = IllegalStateException.class)
        void noRollbackPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerPostProcessor = "countingAttempts")
        @IdempotentListener(transactionPerPoll = "true")
        void attemptsPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerPostProcessor = "advised")
        @IdempotentListener(transactionPerPoll = "true")
        void advisedPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerPostProcessor = "observed")
        @IdempotentListener(transactionPerPoll = "true")
        void observedPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "intercepted")
        @IdempotentListener(transactionPerPoll = "true")
        void interceptedPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(key = "#id", transactionPerPoll = "true")
        void argumentPerPoll(String payload, @Header("id") String id) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recordsOnly")
        @IdempotentListener(transactionPerPoll = "true")
        void recordErrorsPerPoll(String payload) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recordsOnly", batch = "true")
        @IdempotentListener
        void recordErrorsOfBatch(List<String> payloads) {}

        @KafkaListener(topics = "t", groupId = "g", containerFactory = "recordsOnly")
        @IdempotentListener
        void recordErrors(String payload) {}
    }

    @KafkaListener(topics = "t", groupId = "g")
    @IdempotentListener(transactionPerPoll = "true")
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

    @KafkaListener(topics = "t", groupId = "g")
    @IdempotentListener
    static class OneHandlerPerPoll {

        @KafkaHandler
        @IdempotentListener(transactionPerPoll = "true")
        void handlerOfOnePerPoll(String payload) {}

        @KafkaHandler
        void perRecord(Long payload) {}
    }

    @KafkaListener(topics = "t", groupId = "g")
    @IdempotentListener(transactionPerPoll = "true")
    static class HandlersWithTimesPerPoll {

        @KafkaHandler
        @Transactional(timeout = 1)
        void handlerOfTimesPerPoll(String payload) {}

        @KafkaHandler
        @Transactional(timeout = 2)
        void slowerHandlerPerPoll(Long payload) {}
    }

    private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        configurer.configure(factory, consumers);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> asyncAcks(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setAckMode(AckMode.MANUAL);
        factory.getContainerProperties().setAsyncAcks(true);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> manualAcks(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setAckMode(AckMode.MANUAL);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> recordAcks(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setAckMode(AckMode.RECORD);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> count(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setAckMode(AckMode.COUNT);
        factory.getContainerProperties().setAckCount(500);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> time(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setAckMode(AckMode.TIME);
        factory.getContainerProperties().setAckTime(8 * 86_400_000L);
        return factory;
    }

    @Bean
    @SuppressWarnings("removal") // Still in force where it is set.
    ConcurrentKafkaListenerContainerFactory<Object, Object> containerTransactions(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
            ConsumerFactory<Object, Object> consumers,
            PlatformTransactionManager transactionManager) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties().setTransactionManager(transactionManager);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> transactionAdvice(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
            ConsumerFactory<Object, Object> consumers,
            TransactionManager transactionManager) {
        var factory = factory(configurer, consumers);
        factory.getContainerProperties()
                .setAdviceChain(
                        new TransactionInterceptor(transactionManager, new MatchAlwaysTransactionAttributeSource()));
        return factory;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor transactionAdvisor(BeanFactory beanFactory) {
        var attributes = new NameMatchTransactionAttributeSource();
        attributes.setNameMap(Map.of(
                "adviceRequired", new DefaultTransactionAttribute(),
                "adviceRequiresNew", new DefaultTransactionAttribute(TransactionDefinition.PROPAGATION_REQUIRES_NEW),
                "adviceNotSupported", new DefaultTransactionAttribute(TransactionDefinition.PROPAGATION_NOT_SUPPORTED),
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
    ConcurrentKafkaListenerContainerFactory<Object, Object> dropping(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setCommonErrorHandler(new DefaultErrorHandler(new FixedBackOff(10, 3)));
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> logging(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setCommonErrorHandler(new CommonLoggingErrorHandler());
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> endless(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setCommonErrorHandler(new DefaultErrorHandler(new FixedBackOff(10, FixedBackOff.UNLIMITED_ATTEMPTS)));
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> recovering(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
            ConsumerFactory<Object, Object> consumers,
            KafkaTemplate<?, ?> template) {
        var factory = factory(configurer, consumers);
        var recoverer = new DeadLetterPublishingRecoverer(template);
        factory.setCommonErrorHandler(new DefaultErrorHandler(recoverer::accept, new FixedBackOff(1000, 10)));
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> batchToRecord(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setBatchListener(true);
        factory.setBatchToRecordAdapter(new DefaultBatchToRecordAdapter<>());
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> intercepted(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setRecordInterceptor((record, consumer) -> record);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> recordsOnly(
            ConcurrentKafkaListenerContainerFactoryConfigurer configurer, ConsumerFactory<Object, Object> consumers) {
        var factory = factory(configurer, consumers);
        factory.setCommonErrorHandler(new CommonErrorHandler() {});
        return factory;
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
    ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> observed() {
        return container -> container.getContainerProperties().setObservationEnabled(true);
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
