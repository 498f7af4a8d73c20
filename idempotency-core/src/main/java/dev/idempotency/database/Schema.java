package dev.idempotency.database;

import dev.idempotency.IdempotencyConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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

    /** Columns by table, in the order of the script, which creates the view last. */
    private static final Map<String, String> TABLES = new LinkedHashMap<>();

    static {
        TABLES.put(
                IdempotencyDatabase.PROCESSED,
                "consumer_id, message_id, processed_at, record_topic, record_partition, record_offset, payload_digest");
        TABLES.put(
                IdempotencyDatabase.POSITION,
                "consumer_id, record_topic, record_partition, topic_id, next_offset, previous_offset, processed_at");
        TABLES.put(
                IdempotencyDatabase.VERSION,
                "consumer_id, message_id, version_kind, version, processed_at, record_topic, record_partition,"
                        + " record_offset, previous_version, previous_at, previous_topic, previous_partition,"
                        + " previous_offset");
        TABLES.put(IdempotencyDatabase.RESULT, "consumer_id, message_id, processed_at, result_type, result");
        TABLES.put(IdempotencyDatabase.STEP, "consumer_id, message_id, step_name, status, processed_at, result");
        TABLES.put(
                IdempotencyDatabase.INBOX,
                "consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,"
                        + " record_key, record_headers, payload, payload_size, payload_omitted, attempts, replays,"
                        + " last_error, received_at, processed_at, updated_at");
        TABLES.put(IdempotencyDatabase.INBOX + "_readable", "1");
    }

    private final IdempotencyDatabase database;
    private final SchemaMode mode;
    private final WriteProbe probe;
    private final Supplier<@Nullable DataSource> flywayDataSource;

    public Schema(IdempotencyDatabase database, SchemaMode mode) {
        this(database, mode, () -> null);
    }

    /** With what the application's Flyway connects to, perhaps as another user, if it has one. */
    public Schema(IdempotencyDatabase database, SchemaMode mode, Supplier<@Nullable DataSource> flywayDataSource) {
        this.database = database;
        this.mode = mode;
        this.probe = new WriteProbe(database);
        this.flywayDataSource = flywayDataSource;
    }

    @Override
    public void afterPropertiesSet() {
        if (this.mode == SchemaMode.NONE) {
            return;
        }
        List<String> missing = missing();
        if (this.mode == SchemaMode.MIGRATE && !missing.isEmpty()) {
            migrate();
            missing = missing();
        }
        if (!missing.isEmpty()) {
            throw new IdempotencyConfigurationException(
                    "Tables of idempotency-spring-boot are missing%s, or lack columns: %s. idempotency.schema.mode is '%s'."
                            .formatted(
                                    inSchema(),
                                    String.join(", ", missing),
                                    this.mode.name().toLowerCase(Locale.ROOT)),
                    "Run this script%s%s:%n%n%s"
                            .formatted(
                                    inSchema(),
                                    (this.mode == SchemaMode.VALIDATE) ? ", or set the mode to 'migrate'" : "",
                                    script(this.database.dialect())),
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
            FlywayMigration.run(databaseOfFlyway(), location(this.database.dialect()));
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
                        .formatted(inSchema(), script(this.database.dialect()), grants(user))
                : "Fix the cause, or create the tables yourself and set idempotency.schema.mode to 'validate'. A pool of one connection needs 'validate', too.";
    }

    private String flywayModule() {
        return switch (this.database.dialect().vendor()) {
            case "postgresql" -> "org.flywaydb:flyway-database-postgresql";
            case "mysql", "mariadb" -> "org.flywaydb:flyway-mysql";
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
            this.probe.tryAll(
                    TABLES.keySet().stream().filter(table -> !isView(table)).flatMap(this::writes));
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

    /** Statements that need every privilege on a table, and change nothing. */
    private Stream<String> writes(String table) {
        return Stream.of(
                        "insert into %1$s select * from %1$s where 1 = 0",
                        "update %s set processed_at = processed_at where 1 = 0", "delete from %s where 1 = 0")
                .map(sql -> sql.formatted(this.database.table(table)));
    }

    private static boolean isView(String table) {
        return table.endsWith("_readable");
    }

    /** Claims a message as consumers do, in a transaction that is rolled back; fails as they would. */
    public void tryOut() {
        this.probe.tryClaims();
    }

    /** The tables that are missing or lack columns. A table that the user may not read counts as present. */
    public List<String> missing() {
        JdbcTemplate jdbc = this.database.jdbc(WriteProbe.TIMEOUT_SECONDS);
        return TABLES.keySet().stream().filter(table -> !isThere(table, jdbc)).toList();
    }

    /** Runs each query in its own transaction: a failed one ends the transaction on PostgreSQL. */
    private boolean isThere(String table, JdbcTemplate jdbc) {
        String query = "select %s from %s where 1 = 0".formatted(TABLES.get(table), this.database.table(table));
        try {
            this.database.inTransaction(() -> jdbc.queryForList(query));
            return true;
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
        return TABLES.keySet().stream()
                .map(table -> "grant %s on %s to %s;"
                        .formatted(
                                isView(table) ? "select" : "select, insert, update, delete",
                                this.database.table(table),
                                role))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private String inSchema() {
        return (this.database.schema() != null) ? " in schema " + this.database.schema() : "";
    }

    private static String location(Dialect dialect) {
        return "dev/idempotency/schema/" + dialect.vendor();
    }

    /** Returns the script that creates the tables, which can be run again. */
    static String script(Dialect dialect) {
        try {
            return new ClassPathResource(location(dialect) + "/idempotency_V1__tables.sql")
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
