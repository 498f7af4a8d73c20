package dev.idempotency.database;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.springframework.util.ClassUtils;

/**
 * What PostgreSQL says of a violated unique constraint, by its driver, in fields of their own.
 *
 * @param schema the schema of the table; {@code null} if the server is one that does not tell
 * @param table the table, or the partition of it; {@code null} likewise
 * @param constraint the constraint or unique index; of a partition, the partition's own
 * @param detail the key that is there already; {@code null} for who may not read it
 */
record PostgresViolation(
        @Nullable String schema,
        @Nullable String table,
        String constraint,
        @Nullable String detail) {

    private static final String UNIQUE_VIOLATION = "23505";

    private static final boolean DRIVER_PRESENT =
            ClassUtils.isPresent("org.postgresql.util.PSQLException", PostgresViolation.class.getClassLoader());

    /** What an error tells, or {@code null} if it is another one. */
    static @Nullable PostgresViolation in(SQLException error) {
        return (DRIVER_PRESENT && UNIQUE_VIOLATION.equals(error.getSQLState())) ? read(error) : null;
    }

    private static @Nullable PostgresViolation read(SQLException error) {
        ServerErrorMessage message = (error instanceof PSQLException ours) ? ours.getServerErrorMessage() : null;
        return (message != null && message.getConstraint() != null)
                ? new PostgresViolation(
                        message.getSchema(), message.getTable(), message.getConstraint(), message.getDetail())
                : null;
    }
}
