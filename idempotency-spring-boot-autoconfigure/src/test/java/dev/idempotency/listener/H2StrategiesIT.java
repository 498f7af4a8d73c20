package dev.idempotency.listener;

class H2StrategiesIT extends AbstractStrategiesIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:strategies;DB_CLOSE_DELAY=-1";
    }
}
