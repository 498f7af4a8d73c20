package dev.idempotency.operation;

class H2OperationsIT extends AbstractOperationsIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:operations;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
    }

    @Override
    String waiting() {
        return "select count(*) from information_schema.sessions where executing_statement like 'insert %'";
    }

    @Override
    void age(String table, String key, double days) {
        this.jdbc.update(
                "update " + table
                        + " set processed_at = dateadd(second, cast(? as bigint), processed_at) where message_id = ?",
                Math.round(days * -86_400),
                key);
    }
}
