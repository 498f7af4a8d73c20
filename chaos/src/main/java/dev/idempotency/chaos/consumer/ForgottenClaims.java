package dev.idempotency.chaos.consumer;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Deletes a listener's claims in the listener's transaction, so that no duplicate is recognized. */
final class ForgottenClaims {

    private static final List<String> TABLES =
            List.of("idempotency_processed", "idempotency_position", "idempotency_version");

    private ForgottenClaims() {}

    static void forget(String consumer, JdbcTemplate jdbc) {
        TABLES.forEach(table -> jdbc.update("delete from " + table + " where consumer_id = ?", consumer));
        if (consumer.equals("unique")) {
            jdbc.update("delete from unique_work");
        } else if (consumer.equals("offset")) {
            // Only a redelivery reveals it, so leave time for a kill during a poll.
            OffsetsFirst.pause(20);
        }
    }
}
