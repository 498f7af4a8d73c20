package dev.idempotency.internal.database;

import dev.idempotency.IdempotencyConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/** Migrates or validates the tables at start-up, as {@code idempotency.schema.mode} says. */
public final class Schema implements InitializingBean {

    private static final Logger logger = LoggerFactory.getLogger(Schema.class);

    private static final String RING_LOCATION = "dev/idempotency/schema/postgresql-ring";

    private static final String CLAIM_COLUMNS =
            "consumer_id, message_id, processed_at, record_topic, record_partition, record_offset, payload_digest";

    private static final String ROWS = "select, insert, update, delete";

    /** In the order of the script, which creates the view last. */
    private static final List<Table> TABLES = List.of(
            new Table(IdempotencyDatabase.PROCESSED, CLAIM_COLUMNS, ROWS),
            new Table(
                    IdempotencyDatabase.POSITION,
                    "consumer_id, record_topic, record_partition, topic_id, next_offset, previous_offset, processed_at",
                    ROWS),
            new Table(
                    IdempotencyDatabase.VERSION,
                    "consumer_id, message_id, version_kind, version, processed_at, record_topic, record_partition,"
                            + " record_offset, previous_version, previous_at, previous_topic, previous_partition,"
                            + " previous_offset",
                    ROWS),
            new Table(IdempotencyDatabase.RESULT, "consumer_id, message_id, processed_at, result_type, result", ROWS),
            new Table(
                    IdempotencyDatabase.STEP, "consumer_id, message_id, step_name, status, processed_at, result", ROWS),
            new Table(
                    IdempotencyDatabase.INBOX,
                    "consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,"
                            + " record_key, record_headers, payload, payload_size, payload_omitted, attempts, replays,"
                            + " last_error, received_at, processed_at, updated_at",
                    ROWS),
            new Table(IdempotencyDatabase.LOCK, "stripe", "select, update"),
            new Table(IdempotencyDatabase.INBOX + "_readable", "1", "select"));

    /** Statements that need a privilege on a table, and change nothing. */
    private static final Map<String, String> TRIALS = Map.of(
            "insert", "insert into %1$s select * from %1$s where 1 = 0",
            "update", "update %1$s set %2$s = %2$s where 1 = 0",
            "delete", "delete from %1$s where 1 = 0",
            "truncate", """
                    do $do$ begin
                        if not has_table_privilege('%1$s', 'truncate') then
                            raise insufficient_privilege using message = 'permission denied: truncate %1$s';
                        end if;
                    end $do$
                    """);

    /** A table or view, the columns that it must have, and the privileges that the application needs. */
    private record Table(String name, String columns, String privileges) {

        Stream<String> trials(String qualified) {
            String column = this.columns.split(",")[0];
            return Stream.of(this.privileges.split(", "))
                    .filter(TRIALS::containsKey)
                    .map(privilege -> TRIALS.get(privilege).formatted(qualified, column));
        }
    }

    private final IdempotencyDatabase database;
    private final SchemaMode mode;
    private final WriteProbe probe;
    private final Supplier<@Nullable DataSource> flywayDataSource;
    private final List<Table> tables = new ArrayList<>(TABLES);
    private Consumer<Ring> preparation = Ring::requireNone;

    public Schema(IdempotencyDatabase database, SchemaMode mode) {
        this(database, mode, () -> null);
    }

    /** With what the application's Flyway connects to, perhaps as another user, if it has one. */
    public Schema(IdempotencyDatabase database, SchemaMode mode, Supplier<@Nullable DataSource> flywayDataSource) {
        if ("postgresql".equals(database.dialect().vendor())) {
            this.tables.removeIf(table -> table.name().equals(IdempotencyDatabase.LOCK));
        }
        if (database.isRing()) {
            for (int slot = 0; slot < Ring.SLOTS; slot++) {
                this.tables.add(new Table(IdempotencyDatabase.slotName(slot), CLAIM_COLUMNS, ROWS + ", truncate"));
            }
            this.tables.add(new Table(IdempotencyDatabase.ACTIVITY, "consumer_id, message_id, processed_at", ROWS));
            this.tables.add(new Table(Ring.CONTROL, "slots, width_ms, state, since", "select, insert"));
        }
        this.database = database;
        this.mode = mode;
        this.probe = new WriteProbe(database);
        this.flywayDataSource = flywayDataSource;
    }

    /** A ring is made of slots that are so wide; {@code required} is whether one with another width is refused. */
    public Schema ringWidth(Duration width, boolean required) {
        if (this.database.isRing()) {
            this.preparation = ring -> ring.prepare(width, required);
        }
        return this;
    }

    @Override
    public void afterPropertiesSet() {
        boolean ring = this.database.isRing();
        String vendor = this.database.dialect().vendor();
        if (ring && (!vendor.equals("postgresql") || this.mode == SchemaMode.NONE)) {
            throw new IdempotencyConfigurationException(
                    "idempotency.retention-mode is 'ring', which needs PostgreSQL (not %s), and a control row that is read at start-up (not idempotency.schema.mode '%s')."
                            .formatted(vendor, this.mode.name().toLowerCase(Locale.ROOT)),
                    "Leave idempotency.retention-mode at 'delete', or set idempotency.schema.mode to 'validate' or 'migrate'.",
                    null);
        }
        if (this.mode == SchemaMode.NONE) {
            return;
        }
        prepareTables();
        this.preparation.accept(new Ring(this.database));
    }

    private void prepareTables() {
        List<String> missing = missing();
        if (this.mode == SchemaMode.MIGRATE && !missing.isEmpty()) {
            migrate();
            missing = missing();
        }
        if (!missing.isEmpty()) {
            throw new IdempotencyConfigurationException(
                    "Tables of idempotency-spring-boot are missing%s, or lack columns or rows: %s. idempotency.schema.mode is '%s'."
                            .formatted(
                                    inSchema(),
                                    String.join(", ", missing),
                                    this.mode.name().toLowerCase(Locale.ROOT)),
                    "Run this script%s%s:%n%n%s"
                            .formatted(
                                    inSchema(),
                                    (this.mode == SchemaMode.VALIDATE) ? ", or set the mode to 'migrate'" : "",
                                    scripts()),
                    null);
        }
        refuseWhatIsDenied();
    }

    private void migrate() {
        if (!ClassUtils.isPresent("org.flywaydb.core.Flyway", getClass().getClassLoader())) {
            throw new IdempotencyConfigurationException(
                    "idempotency.schema.mode is 'migrate', but Flyway is not on the class path.",
                    "Add %s, or create the tables yourself and set the mode to 'validate'.".formatted(flywayModule()),
                    null);
        }
        try {
            FlywayMigration.run(databaseOfFlyway(), location(this.database.dialect()), "idempotency_schema_history");
            if (this.database.isRing()) {
                FlywayMigration.run(databaseOfFlyway(), RING_LOCATION, "idempotency_ring_history");
            }
        } catch (RuntimeException ex) {
            throw new IdempotencyConfigurationException(
                    "The tables of idempotency-spring-boot could not be created%s: %s"
                            .formatted(
                                    inSchema(),
                                    NestedExceptionUtils.getMostSpecificCause(ex)
                                            .getMessage()),
                    migrationRemedy(ex),
                    ex);
        }
    }

    private String migrationRemedy(RuntimeException failure) {
        if (String.valueOf(failure.getMessage()).startsWith("Unsupported Database")) {
            return "Add %s to the class path: Flyway needs it for this database.".formatted(flywayModule());
        }
        String user = this.database.user();
        return WriteProbe.denial(failure) != null
                ? "Run this script%s as a user who may create tables, and start again. Or let such a user migrate: set spring.flyway.user and spring.flyway.password.%n%n%s%n%s"
                        .formatted(inSchema(), scripts(), grants(user))
                : "Fix the cause, or create the tables yourself and set idempotency.schema.mode to 'validate'. A pool of one connection needs 'validate', too.";
    }

    private String flywayModule() {
        return switch (this.database.dialect().vendor()) {
            case "postgresql" -> "org.flywaydb:flyway-database-postgresql";
            case "mysql" -> "org.flywaydb:flyway-mysql";
            default -> "org.flywaydb:flyway-core";
        };
    }

    /** As the application's Flyway reaches it, unless that is for another database, in the schema that the application uses. */
    private IdempotencyDatabase databaseOfFlyway() {
        DataSource flyways = this.flywayDataSource.get();
        if (flyways == null || DataSourceTransactions.unwrap(flyways) == this.database.dataSource()) {
            return this.database;
        }
        JdbcTemplate own = new JdbcTemplate(this.database.dataSource());
        ConnectionCallback<@Nullable String> place = Connection::getCatalog;
        ConnectionCallback<@Nullable String> current = Connection::getSchema;
        if (!Objects.equals(new JdbcTemplate(flyways).execute(place), own.execute(place))) {
            return this.database;
        }
        String schema = (this.database.schema() != null) ? this.database.schema() : own.execute(current);
        return new IdempotencyDatabase(flyways, this.database.dialect(), schema);
    }

    /** Fails for missing privileges only: a server that is read-only today is no reason not to start. */
    private void refuseWhatIsDenied() {
        try {
            this.probe.tryAll(this.tables.stream().flatMap(table -> table.trials(this.database.table(table.name()))));
        } catch (DataAccessException ex) {
            String denial = WriteProbe.denial(ex);
            if (denial != null || ex instanceof BadSqlGrammarException) {
                String user = this.database.user();
                throw new IdempotencyConfigurationException(
                        "The user '%s' may not write the tables of idempotency-spring-boot: %s"
                                .formatted(user, (denial != null) ? denial : ex.getMessage()),
                        "Run this as the owner of the tables:%n%n%s".formatted(grants(user)),
                        ex);
            }
            logger.warn("The tables could not be written for a trial; consumers wait until they can be", ex);
        }
    }

    /** Claims a message as consumers do, in a transaction that is rolled back; fails as they would. */
    public void tryOut() {
        this.probe.tryClaims();
    }

    /** The tables that are missing or lack columns. A table that the user may not read counts as present. */
    public List<String> missing() {
        JdbcTemplate jdbc = this.database.jdbc(WriteProbe.TIMEOUT_SECONDS);
        return this.tables.stream()
                .filter(table -> !isThere(table, jdbc))
                .map(Table::name)
                .toList();
    }

    /** Runs each query in its own transaction: a failed one ends the transaction on PostgreSQL. */
    private boolean isThere(Table table, JdbcTemplate jdbc) {
        int needed = table.name().equals(IdempotencyDatabase.LOCK) ? Dialect.STRIPES : 0;
        String query = "select %s from %s %s"
                .formatted(
                        table.columns(),
                        this.database.table(table.name()),
                        this.database.dialect().rows(0, needed));
        try {
            return this.database.inTransaction(() -> jdbc.queryForList(query)).size() == needed;
        } catch (DataAccessException ex) {
            if (WriteProbe.denial(ex) != null) {
                return true;
            }
            if (ex instanceof BadSqlGrammarException) {
                return false;
            }
            throw ex;
        }
    }

    private String grants(String user) {
        String quote = this.database.dialect().identifierQuote();
        String role =
                user.matches("\\w+") ? user : quote + (quote.equals("`") ? user.replace("@", "`@`") : user) + quote;
        return this.tables.stream()
                .map(table ->
                        "grant %s on %s to %s;".formatted(table.privileges(), this.database.table(table.name()), role))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private String inSchema() {
        return (this.database.schema() != null) ? " in schema " + this.database.schema() : "";
    }

    private static String location(Dialect dialect) {
        return "dev/idempotency/schema/" + dialect.vendor();
    }

    private String scripts() {
        String script = script(this.database.dialect());
        return this.database.isRing() ? script + "\n" + read(RING_LOCATION + "/idempotency_V1__ring.sql") : script;
    }

    /** Returns the script that creates the tables, which can be run again. */
    static String script(Dialect dialect) {
        return read(location(dialect) + "/idempotency_V1__tables.sql");
    }

    private static String read(String script) {
        try {
            return new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
