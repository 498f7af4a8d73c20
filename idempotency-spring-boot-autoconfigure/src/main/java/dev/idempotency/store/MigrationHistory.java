package dev.idempotency.store;

import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What Flyway has written down of the scripts that have run, read without Flyway, which takes a while to start. */
final class MigrationHistory {

    static final String TABLE = "idempotency_schema_history";

    private static final String SCRIPTS = "select %1$sscript%1$s from %2$s where %1$ssuccess%1$s = true";

    private final JdbcTemplate jdbc;
    private final String scripts;

    MigrationHistory(DataSource dataSource, Dialect dialect, Tables tables) {
        this.jdbc = new JdbcTemplate(dataSource);
        String quote = dialect.identifierQuote();
        this.scripts = SCRIPTS.formatted(quote, tables.qualified(quote + TABLE + quote, dialect));
    }

    /** Whether all scripts have run. */
    boolean isComplete() {
        try {
            List<String> ran = this.jdbc.queryForList(this.scripts, String.class);
            return SchemaScript.ALL.stream().allMatch(script -> ran.contains(script.file()));
        } catch (BadSqlGrammarException ex) {
            // There is no history yet.
            return false;
        }
    }
}
