package dev.idempotency.store;

import dev.idempotency.database.Schema;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.observe.ConsumerObserver;

/** Makes the strategies that have a table of their own, beside that of processed messages. */
public final class JdbcStrategyFactory {

    private final Schema schema;
    private final JdbcPositionStore positions;

    public JdbcStrategyFactory(Schema schema, JdbcPositionStore positions) {
        this.schema = schema;
        this.positions = positions;
    }

    /** Recognises the messages of a consumer by the offsets of their records. */
    public AdmissionStrategy byOffset(String consumer, TopicIdTracker topics, ConsumerObserver observer) {
        this.schema.useForPositions();
        return new OffsetStrategy(consumer, this.positions, topics, observer);
    }
}
