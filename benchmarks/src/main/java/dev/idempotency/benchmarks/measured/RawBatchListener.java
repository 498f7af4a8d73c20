package dev.idempotency.benchmarks.measured;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;

/** Transactional batch listeners without deduplication, with two batch sizes and two ways to insert. */
class RawBatchListener {

    static final String EACH_50 = "raw-each-50";
    static final String EACH_500 = "raw-each-500";
    static final String TOGETHER_50 = "raw-together-50";
    static final String TOGETHER_500 = "raw-together-500";

    private final Effects each50;
    private final Effects each500;
    private final Effects together50;
    private final Effects together500;

    RawBatchListener(JdbcTemplate jdbc) {
        this.each50 = new Effects(jdbc, EACH_50);
        this.each500 = new Effects(jdbc, EACH_500);
        this.together50 = new Effects(jdbc, TOGETHER_50);
        this.together500 = new Effects(jdbc, TOGETHER_500);
    }

    @KafkaListener(id = EACH_50, topics = "${benchmark.topic}", batch = "true", properties = "max.poll.records=50")
    @Transactional
    void each50(List<String> payloads) {
        this.each50.happenOneByOne(payloads);
    }

    @KafkaListener(id = EACH_500, topics = "${benchmark.topic}", batch = "true", properties = "max.poll.records=500")
    @Transactional
    void each500(List<String> payloads) {
        this.each500.happenOneByOne(payloads);
    }

    @KafkaListener(id = TOGETHER_50, topics = "${benchmark.topic}", batch = "true", properties = "max.poll.records=50")
    @Transactional
    void together50(List<String> payloads) {
        this.together50.happenTogether(payloads);
    }

    @KafkaListener(
            id = TOGETHER_500,
            topics = "${benchmark.topic}",
            batch = "true",
            properties = "max.poll.records=500")
    @Transactional
    void together500(List<String> payloads) {
        this.together500.happenTogether(payloads);
    }
}
