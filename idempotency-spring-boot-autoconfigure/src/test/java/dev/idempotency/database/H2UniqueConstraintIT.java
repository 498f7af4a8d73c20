package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.sql.SQLException;
import java.util.Locale;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class H2UniqueConstraintIT extends AbstractUniqueConstraintIT {

    @Override
    DataSource emptyDatabase() {
        return new DriverManagerDataSource("jdbc:h2:mem:unique-constraint;DB_CLOSE_DELAY=-1");
    }

    @Test
    void namesThatNeedQuotesAreFound() {
        execute("create table \"od'd.\"\"q\" (id varchar(40), constraint \"Od d\" unique (id))");
        execute("insert into \"od'd.\"\"q\" values ('a\"b')");
        SQLException error = errorOf("insert into \"od'd.\"\"q\" values ('a\"b')");
        assertThat(isViolated("od d", error)).isTrue();
        assertThat(isViolated("\"od'd.\"\"q\".\"Od d\"", error)).isTrue();
        assertThat(constraint("od d").isTaken(error, this.jdbc)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DATABASE_TO_UPPER=false", "DATABASE_TO_LOWER=true"})
    void constraintsAreFoundHoweverTheDatabaseWritesNames(String setting) {
        SingleConnectionDataSource dataSource = new SingleConnectionDataSource("jdbc:h2:mem:;" + setting, true);
        JdbcTemplate other = new JdbcTemplate(dataSource);
        other.execute("create table payment (id int, constraint payment_once unique (id))");
        other.update("insert into payment values (1)");
        UniqueConstraint constraint =
                DialectResolver.resolve(dataSource).uniqueConstraint(ConstraintName.parse("payment_once"), other);
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> other.update("insert into payment values (1)"))
                .satisfies(ex -> assertThat(constraint.isViolatedIn((SQLException) ex.getRootCause(), other))
                        .isTrue());
        dataSource.destroy();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Unique index or primary key violation: \"PRIMARY KEY ON PUBLIC.ENTRY(ID) ( /* key:1 */ 1)\"; SQL",
                "Unique index or primary key violation: \"PUBLIC.PRIMARY_KEY_3 ON PUBLIC.ENTRY(ID) VALUES ( /* 1 */ 1 )\""
            })
    void errorsOfOlderVersionsThatDoNotNameTheConstraintAreUnderstood(String message) {
        FoundConstraint found = new FoundConstraint("PUBLIC", "ENTRY", "CONSTRAINT_3", "PRIMARY_KEY_3", true, null);
        SQLException error = new SQLException(message, "23505", 23505);
        assertThat(new H2UniqueConstraint(found).isViolatedIn(error, this.jdbc)).isTrue();
        FoundConstraint other = new FoundConstraint("PUBLIC", "ENTRY", "ENTRY_ONCE", "ENTRY_ONCE", true, null);
        assertThat(new H2UniqueConstraint(other).isViolatedIn(error, this.jdbc)).isFalse();
    }

    @Test
    void theLanguageOfTheErrorDoesNotMatter() {
        SQLException error = errorOf("insert into payment values (1, 'n', 9, 'n', 1)");
        String german = String.valueOf(error.getMessage())
                .replace("Unique index or primary key violation", "Eindeutiger Index oder Primärschlüssel verletzt");
        assertThat(isViolated("payment_id", new SQLException(german, error.getSQLState(), error.getErrorCode())))
                .as(Locale.GERMAN.getDisplayLanguage())
                .isTrue();
    }
}
