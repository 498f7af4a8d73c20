package dev.idempotency.database;

import java.io.Serial;
import org.springframework.dao.DataAccessException;

/** The user who is to migrate the tables may not even look at them, so that nobody knows what there is to migrate. */
final class SchemaDeniedException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1L;

    private SchemaDeniedException(String denial, DataAccessException failure) {
        super(
                ("The tables of idempotency-spring-boot cannot be migrated by this user of the database: %s. Let a user"
                                + " migrate who owns them (spring.flyway.user and spring.flyway.password), grant this"
                                + " one what it lacks, or set idempotency.schema.mode to 'validate'.")
                        .formatted(denial),
                failure);
    }

    /** Throws one if it is for want of a privilege that a statement has failed. */
    static void throwIfDenied(DataAccessException failure) {
        String denial = WriteProbe.denial(failure);
        if (denial != null) {
            throw new SchemaDeniedException(denial, failure);
        }
    }
}
