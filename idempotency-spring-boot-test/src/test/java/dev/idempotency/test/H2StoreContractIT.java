package dev.idempotency.test;

class H2StoreContractIT extends JdbcStoreContract {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:contract;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
    }
}
