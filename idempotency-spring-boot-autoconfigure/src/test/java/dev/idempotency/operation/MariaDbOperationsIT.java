package dev.idempotency.operation;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

class MariaDbOperationsIT extends AbstractOperationsIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow();
    }

    @Override
    String waiting() {
        return "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
    }

    @Override
    void age(String table, String key, double days) {
        this.jdbc.update(
                "update " + table + " set processed_at = processed_at - interval ? second where message_id = ?",
                Math.round(days * 86_400),
                key);
    }
}
