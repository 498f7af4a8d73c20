package dev.idempotency.benchmarks.interceptor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;

/**
 * Calls a listener like its container, without the container. The cost of {@code @IdempotentListener} is the difference to
 * the raw listener, which has the same transaction manager, a stub.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InterceptorBenchmark {

    static final int BATCH = 500;

    private ConfigurableApplicationContext context;
    private List<ConsumerRecord<String, String>> records;
    private ConsumerRecord<String, String> record;
    private AcknowledgingConsumerAwareMessageListener<String, String> rawRecordListener;
    private AcknowledgingConsumerAwareMessageListener<String, String> idempotentRecordListener;
    private AcknowledgingConsumerAwareMessageListener<String, String> expressionRecordListener;
    private BatchAcknowledgingConsumerAwareMessageListener<String, String> rawBatchListener;
    private BatchAcknowledgingConsumerAwareMessageListener<String, String> idempotentBatchListener;

    @Setup
    public void start() {
        this.context = new SpringApplicationBuilder(InterceptorApplication.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.main.log-startup-info=false",
                        "logging.level.dev.idempotency=warn",
                        "spring.kafka.listener.auto-startup=false")
                .run();
        this.records = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            ConsumerRecord<String, String> next = new ConsumerRecord<>("benchmark", 0, i, null, "payload " + i);
            next.headers()
                    .add(
                            "message-id",
                            "0c8f6c5e-4d4c-4b0c-9d2a-%012d".formatted(i).getBytes(StandardCharsets.UTF_8));
            this.records.add(next);
        }
        this.record = this.records.get(0);
        this.rawRecordListener = recordListener("raw");
        this.idempotentRecordListener = recordListener("idempotent");
        this.expressionRecordListener = recordListener("expression");
        this.rawBatchListener = batchListener("raw-batch");
        this.idempotentBatchListener = batchListener("idempotent-batch");
    }

    @TearDown
    public void stop() {
        this.context.close();
    }

    @Benchmark
    public void rawRecord() {
        this.rawRecordListener.onMessage(this.record, null, null);
    }

    @Benchmark
    public void idempotentRecord() {
        this.idempotentRecordListener.onMessage(this.record, null, null);
    }

    @Benchmark
    public void idempotentRecordWithExpression() {
        this.expressionRecordListener.onMessage(this.record, null, null);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void rawBatch() {
        this.rawBatchListener.onMessage(this.records, null, null);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void idempotentBatch() {
        this.idempotentBatchListener.onMessage(this.records, null, null);
    }

    @SuppressWarnings("unchecked") // The containers of this benchmark's application consume text.
    private AcknowledgingConsumerAwareMessageListener<String, String> recordListener(String id) {
        return (AcknowledgingConsumerAwareMessageListener<String, String>) listener(id);
    }

    @SuppressWarnings("unchecked") // As above.
    private BatchAcknowledgingConsumerAwareMessageListener<String, String> batchListener(String id) {
        return (BatchAcknowledgingConsumerAwareMessageListener<String, String>) listener(id);
    }

    private Object listener(String id) {
        return Objects.requireNonNull(Objects.requireNonNull(this.context
                        .getBean(KafkaListenerEndpointRegistry.class)
                        .getListenerContainer(id))
                .getContainerProperties()
                .getMessageListener());
    }
}
