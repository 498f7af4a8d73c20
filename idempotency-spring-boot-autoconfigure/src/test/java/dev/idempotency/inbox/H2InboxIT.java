package dev.idempotency.inbox;

class H2InboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:inbox;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
    }
}
