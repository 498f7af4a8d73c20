package dev.idempotency.benchmarks.measured;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** The work of a listener: one row per message, in a separate table. */
final class Effects {

    private static final String INSERT = "insert into %s (payload) values (?)";

    private final JdbcTemplate jdbc;
    private final String insert;

    Effects(JdbcTemplate jdbc, String listener) {
        this.jdbc = jdbc;
        this.insert = INSERT.formatted(table(listener));
        jdbc.execute("create table if not exists %s (payload text not null)".formatted(table(listener)));
    }

    static String table(String listener) {
        return "effect_" + listener.replace('-', '_');
    }

    void happen(String payload) {
        this.jdbc.update(this.insert, payload);
    }

    /** Uses one statement per message. */
    void happenOneByOne(List<String> payloads) {
        payloads.forEach(this::happen);
    }

    /** Uses one JDBC batch for all messages. */
    void happenTogether(List<String> payloads) {
        this.jdbc.batchUpdate(
                this.insert, payloads, payloads.size(), (statement, payload) -> statement.setString(1, payload));
    }
}
