package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** H2 may be told to take no notice of case, or of more than that, and then would two ids be one. */
class CaseInsensitiveH2Tests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=MySQL;IGNORECASE=TRUE",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;IGNORECASE=TRUE",
                "COLLATION=GERMAN",
                "DATABASE_TO_LOWER=TRUE;COLLATION=GERMAN",
                "INIT=SET COLLATION ENGLISH STRENGTH PRIMARY",
                "COLLATION=CHARSET_CP500"
            })
    void aDatabaseThatTakesDifferentTextsForEqualIsRefused(String settings) {
        assertThatIllegalStateException()
                .isThrownBy(() -> DialectResolver.resolve(new DriverManagerDataSource("jdbc:h2:mem:;" + settings)))
                .withMessageMatching("(?s).*(IGNORECASE=1|COLLATION=[A-Z]+).*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MODE=MySQL", "IGNORECASE=FALSE", "COLLATION=OFF", "DATABASE_TO_LOWER=TRUE"})
    void anyOtherIsNot(String settings) {
        assertThat(DialectResolver.resolve(new DriverManagerDataSource("jdbc:h2:mem:;" + settings)))
                .isInstanceOf(H2Dialect.class);
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void tablesThatAreMadeAfterAScriptHasSaidSoAreRefused(SchemaMode mode) {
        DriverManagerDataSource dataSource =
                new DriverManagerDataSource("jdbc:h2:mem:after-script-%s;DB_CLOSE_DELAY=-1".formatted(mode));
        IdempotencyDatabase database = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
        database.jdbc().execute("set ignorecase true");
        database.jdbc().execute(Schema.script(database.dialect()));
        assertThatIllegalStateException()
                .isThrownBy(new Schema(database, mode)::afterPropertiesSet)
                .withMessageContaining("idempotency_processed takes ids of messages for equal that are not");
    }
}
