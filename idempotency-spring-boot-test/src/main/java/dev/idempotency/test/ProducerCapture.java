package dev.idempotency.test;

import dev.idempotency.internal.kafka.BrokerConnection;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Captures records that are sent on the thread of a container of the test kit, and, if there is no broker, discards all
 * others.
 */
final class ProducerCapture {

    private static final Node NOWHERE = Node.noNode();
    private static final int PARTITIONS = 64;
    private static final Set<String> WITHOUT_EFFECT = Set.of(
            "flush",
            "initTransactions",
            "beginTransaction",
            "sendOffsetsToTransaction",
            "commitTransaction",
            "abortTransaction");

    private ProducerCapture() {}

    static <K, V> void install(ProducerFactory<K, V> factory, BrokerPresence brokers) {
        factory.addPostProcessor(producer -> {
            boolean broker = brokers.isPresent(BrokerConnection.of(factory));
            if (!broker) {
                // Otherwise it would look for a broker, and log that there is none, for as long as it is open.
                producer.close(Duration.ZERO);
            }
            return capturing(producer, !broker);
        });
    }

    @SuppressWarnings("unchecked") // The proxy implements only this interface.
    private static <K, V> Producer<K, V> capturing(Producer<K, V> producer, boolean always) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            ContainerRun run = ContainerRun.current();
            if (run == null && !always) {
                return call(producer, method, arguments);
            }
            String name = method.getName();
            if (name.equals("send")) {
                return capture(run, arguments);
            }
            if (name.equals("partitionsFor")) {
                return partitionsOf((String) arguments[0]);
            }
            return WITHOUT_EFFECT.contains(name) ? null : call(producer, method, arguments);
        };
        return (Producer<K, V>) Proxy.newProxyInstance(
                ProducerCapture.class.getClassLoader(), new Class<?>[] {Producer.class}, handler);
    }

    private static @Nullable Object call(Producer<?, ?> producer, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(producer, arguments);
        } catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    private static Future<RecordMetadata> capture(@Nullable ContainerRun run, Object[] arguments) {
        ProducerRecord<?, ?> record = (ProducerRecord<?, ?>) arguments[0];
        if (run != null) {
            run.consumer().outcomes().published.add(record);
        }
        int partition = (record.partition() != null) ? record.partition() : 0;
        RecordMetadata sent = new RecordMetadata(
                new TopicPartition(record.topic(), partition), 0, 0, System.currentTimeMillis(), -1, -1);
        if (arguments.length > 1 && arguments[1] instanceof Callback callback) {
            callback.onCompletion(sent, null);
        }
        return CompletableFuture.completedFuture(sent);
    }

    /** Returns more partitions than any application should need. */
    private static List<PartitionInfo> partitionsOf(String topic) {
        Node[] none = {};
        return IntStream.range(0, PARTITIONS)
                .mapToObj(number -> new PartitionInfo(topic, number, NOWHERE, none, none))
                .toList();
    }
}
