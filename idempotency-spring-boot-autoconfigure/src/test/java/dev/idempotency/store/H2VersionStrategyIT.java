package dev.idempotency.store;

class H2VersionStrategyIT extends AbstractVersionStrategyIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:versions;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;TIME ZONE=-09:30";
    }
}
