package dev.idempotency.internal.failure;

class H2FailuresIT extends AbstractStoreFailuresIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:failures;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=100";
    }

    @Override
    String adminUrl() {
        return jdbcUrl() + ";USER=sa";
    }
}
