package dev.idempotency.listener;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

class PostgresStrategiesIT extends AbstractStrategiesIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Override
    Stream<String> strategies() {
        return Stream.concat(super.strategies(), Stream.of("constraint"));
    }

    @Override
    Class<?> listeners() {
        return MoreListeners.class;
    }

    static class MoreListeners extends Listeners {

        private final JdbcTemplate jdbc;

        MoreListeners(Effects effects, JdbcTemplate jdbc) {
            super(effects);
            this.jdbc = jdbc;
            jdbc.execute("create table applied (name varchar(100) not null, constraint applied_name unique (name))");
        }

        @KafkaListener(
                id = "constraintRecords",
                topics = "constraintRecords${suffix}",
                groupId = "constraintRecords${suffix}")
        @IdempotentListener(
                consumer = "constraintRecords",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "applied_name")
        void constraintRecords(String payload) {
            insert("constraintRecords", payload);
        }

        @KafkaListener(
                id = "constraintBatches",
                topics = "constraintBatches${suffix}",
                groupId = "constraintBatches${suffix}",
                batch = "true")
        @IdempotentListener(
                consumer = "constraintBatches",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "applied_name")
        void constraintBatches(List<String> payloads) {
            payloads.forEach(payload -> insert("constraintBatches", payload));
        }

        @KafkaListener(
                id = "constraintPolls",
                topics = "constraintPolls${suffix}",
                groupId = "constraintPolls${suffix}")
        @IdempotentListener(
                consumer = "constraintPolls",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "applied_name",
                transactionPerPoll = "true")
        void constraintPolls(String payload) {
            insert("constraintPolls", payload);
        }

        private void insert(String kind, String payload) {
            happen(kind, payload);
            this.jdbc.update("insert into applied (name) values (?)", kind + payload);
        }
    }
}
