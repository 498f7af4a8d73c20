package dev.idempotency.benchmarks.measured;

import io.eventuate.common.jdbc.EventuateSchema;
import io.eventuate.common.jdbc.sqldialect.PostgresDialect;
import io.eventuate.common.spring.jdbc.EventuateSpringJdbcStatementExecutor;
import io.eventuate.common.spring.jdbc.EventuateSpringTransactionTemplate;
import io.eventuate.tram.consumer.jdbc.SqlTableBasedDuplicateMessageDetector;
import io.eventuate.tram.messaging.common.Message;
import io.eventuate.tram.messaging.common.MessageImpl;
import io.eventuate.tram.messaging.common.SubscriberIdAndMessage;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Eventuate Tram's duplicate detector, set up like its {@code TramConsumerJdbcAutoConfiguration}, with the table of its
 * PostgreSQL script. It opens the transaction itself.
 */
class EventuateListener {

    static final String ID = "eventuate";

    private static final String CREATE = """
            create schema if not exists eventuate;
            create table if not exists eventuate.received_messages (
                consumer_id   varchar(1000),
                message_id    varchar(1000),
                creation_time bigint,
                published     smallint default 0,
                primary key (consumer_id, message_id)
            )
            """;

    private final Effects effects;
    private final SqlTableBasedDuplicateMessageDetector detector;

    EventuateListener(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
        this.effects = new Effects(jdbc, ID);
        jdbc.execute(CREATE);
        this.detector = new SqlTableBasedDuplicateMessageDetector(
                new EventuateSchema(),
                new PostgresDialect().getCurrentTimeInMillisecondsExpression(),
                new EventuateSpringJdbcStatementExecutor(jdbc),
                new EventuateSpringTransactionTemplate(new TransactionTemplate(transactions)));
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    void on(String payload, @Header("message-id") String id) {
        MessageImpl message = new MessageImpl(payload, Map.of(Message.ID, id));
        this.detector.doWithMessage(new SubscriberIdAndMessage(ID, message), () -> this.effects.happen(payload));
    }
}
