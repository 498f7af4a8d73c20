package dev.idempotency.store;

/** H2 waits for the lock of a row as long as it is told by its URL, whatever the statement may take. */
class H2VersionStrategyIT extends AbstractVersionStrategyIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:versions;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=3000;TIME ZONE=-09:30";
    }
}
