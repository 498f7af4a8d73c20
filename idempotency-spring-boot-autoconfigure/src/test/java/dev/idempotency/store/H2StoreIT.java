package dev.idempotency.store;

class H2StoreIT extends AbstractProcessedMessageStoreIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:store;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;TIME ZONE=-09:30";
    }

    @Override
    String analyze() {
        return "analyze";
    }
}
