package dev.idempotency.benchmarks.measured;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same batches, protected by positions instead of ids. */
class OffsetBatchListener {

    static final String EACH_500 = "offset-each-500";
    static final String TOGETHER_500 = "offset-together-500";

    private final Effects each500;
    private final Effects together500;

    OffsetBatchListener(JdbcTemplate jdbc) {
        this.each500 = new Effects(jdbc, EACH_500);
        this.together500 = new Effects(jdbc, TOGETHER_500);
    }

    @KafkaListener(id = EACH_500, topics = "${benchmark.topic}", batch = "true", properties = "max.poll.records=500")
    @IdempotentListener(value = EACH_500, strategy = DeduplicationStrategy.OFFSET)
    void each500(List<String> payloads) {
        this.each500.happenOneByOne(payloads);
    }

    @KafkaListener(
            id = TOGETHER_500,
            topics = "${benchmark.topic}",
            batch = "true",
            properties = "max.poll.records=500")
    @IdempotentListener(value = TOGETHER_500, strategy = DeduplicationStrategy.OFFSET)
    void together500(List<String> payloads) {
        this.together500.happenTogether(payloads);
    }
}
