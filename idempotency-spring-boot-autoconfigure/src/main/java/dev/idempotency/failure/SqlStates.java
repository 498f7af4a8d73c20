package dev.idempotency.failure;

import static java.util.Map.entry;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What SQL states, and the codes behind those that say little, tell of a failure.
 *
 * <p>States decide before the classes of exceptions: MariaDB's driver throws whatever it does not know, an application's
 * own {@code signal} among it, as a failure of the connection. A statement that was canceled or timed out (57014, 70100)
 * and one that is too complex (54) are the listener's own.
 */
final class SqlStates {

    private static final Set<String> OUTAGE_CLASSES = Set.of("08", "53", "58");

    /** Read-only (a replica after a failover), unknown outcome, and the server going down, down, or coming up. */
    private static final Set<String> OUTAGE_STATES =
            Set.of("25006", "40003", "57P01", "57P02", "57P03", "57P04", "57P05");

    /** Serialization failure, deadlock, lock not available. */
    private static final Set<String> CONTENTION_STATES = Set.of("40001", "40P01", "55P03");

    /** No connection is to be had: not established, rejected, server starting, too many of them. */
    private static final Set<String> REFUSED_STATES = Set.of("08001", "08004", "57P03", "53300");

    /** The server goes down, or its disk is full or fails; the last two are those of H2. */
    private static final Set<String> STATES_OF_SERVER =
            Set.of("57P01", "57P02", "57P04", "53100", "58000", "58030", "90028", "90031");

    /** States that a database has for many things. */
    private static final Set<String> UNSPECIFIC_STATES = Set.of("HY000", "HY001", "HYT00", "42000", "70100");

    private static final Set<Integer> REFUSED_CODES = Set.of(1040, 1129, 1203, 1226);

    /** MySQL and MariaDB: the server goes down, its disk or a table is full, or its disk fails. */
    private static final Set<Integer> CODES_OF_SERVER = Set.of(1021, 1026, 1030, 1053, 1114);

    private static final Map<Integer, FailureKind> KINDS_BY_CODE = Map.ofEntries(
            // MySQL and MariaDB: the disk or a table is full, memory or locks are used up
            entry(1021, FailureKind.OUTAGE),
            entry(1026, FailureKind.OUTAGE),
            entry(1030, FailureKind.OUTAGE),
            entry(1037, FailureKind.OUTAGE),
            entry(1041, FailureKind.OUTAGE),
            entry(1114, FailureKind.OUTAGE),
            entry(1206, FailureKind.OUTAGE),
            entry(1637, FailureKind.OUTAGE),
            // MySQL and MariaDB: too many connections, or a user's limit
            entry(1129, FailureKind.OUTAGE),
            entry(1203, FailureKind.OUTAGE),
            entry(1226, FailureKind.OUTAGE),
            // MySQL and MariaDB: read-only, by option, by mode or by engine
            entry(1290, FailureKind.OUTAGE),
            entry(1836, FailureKind.OUTAGE),
            entry(1874, FailureKind.OUTAGE),
            // MySQL and MariaDB: the connection was killed, or closed for being idle
            entry(1927, FailureKind.OUTAGE),
            entry(4031, FailureKind.OUTAGE),
            // MySQL and MariaDB: changed since it was read, lock wait timeout, lock wait aborted, nowait
            entry(1020, FailureKind.CONTENTION),
            entry(1205, FailureKind.CONTENTION),
            entry(1689, FailureKind.CONTENTION),
            entry(3572, FailureKind.CONTENTION),
            // H2: input and output, read-only, lock timeout, concurrent update
            entry(90028, FailureKind.OUTAGE),
            entry(90031, FailureKind.OUTAGE),
            entry(90097, FailureKind.OUTAGE),
            entry(50200, FailureKind.CONTENTION),
            entry(90131, FailureKind.CONTENTION));

    private SqlStates() {}

    static FailureKind kindOf(SQLException exception) {
        String state = exception.getSQLState();
        if (!isSpecific(state)) {
            FailureKind kind = KINDS_BY_CODE.get(exception.getErrorCode());
            return (kind != null) ? kind : kindByClass(exception, state);
        }
        if (OUTAGE_STATES.contains(state) || OUTAGE_CLASSES.contains(state.substring(0, 2))) {
            return FailureKind.OUTAGE;
        }
        if (CONTENTION_STATES.contains(state)) {
            return FailureKind.CONTENTION;
        }
        return isCodeOfH2(exception, state) ? kindOfH2(exception) : FailureKind.MESSAGE;
    }

    private static boolean isSpecific(@Nullable String state) {
        return state != null && state.length() >= 2 && !UNSPECIFIC_STATES.contains(state);
    }

    /** Most of its states are its error codes. */
    private static boolean isCodeOfH2(SQLException exception, String state) {
        return state.startsWith("90") && state.equals(Integer.toString(exception.getErrorCode()));
    }

    private static FailureKind kindOfH2(SQLException exception) {
        FailureKind kind = KINDS_BY_CODE.get(exception.getErrorCode());
        return (kind != null) ? kind : kindByClass(exception, null);
    }

    private static FailureKind kindByClass(SQLException exception, @Nullable String state) {
        boolean connection = exception instanceof SQLTransientConnectionException
                || exception instanceof SQLNonTransientConnectionException
                || exception instanceof SQLRecoverableException;
        return (connection && !"70100".equals(state)) ? FailureKind.OUTAGE : FailureKind.MESSAGE;
    }

    /** Whether it tells of the server, whatever was asked of it: also that no connection to it is to be had. */
    static boolean isOfServer(SQLException exception) {
        String state = exception.getSQLState();
        int code = exception.getErrorCode();
        return (state == null)
                ? kindByClass(exception, null) == FailureKind.OUTAGE
                : REFUSED_STATES.contains(state)
                        || STATES_OF_SERVER.contains(state)
                        || REFUSED_CODES.contains(code)
                        || CODES_OF_SERVER.contains(code);
    }
}
