package dev.idempotency.listener;

class H2ConstraintIT extends AbstractConstraintIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:constraint;DB_CLOSE_DELAY=-1";
    }
}
