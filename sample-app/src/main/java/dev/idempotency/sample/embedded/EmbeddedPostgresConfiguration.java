package dev.idempotency.sample.embedded;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** A real PostgreSQL server on a free port, unless {@code spring.datasource.url} names another one. */
@Configuration(proxyBeanMethods = false)
@Conditional(EmbeddedPostgresConfiguration.NoDatabaseNamed.class)
class EmbeddedPostgresConfiguration {

    @Bean
    EmbeddedPostgres embeddedPostgres() throws IOException {
        return EmbeddedPostgres.builder()
                // Spring closes the server after its clients. Its shutdown hook would close it earlier.
                .setRegisterShutdownHook(false)
                .setPGStartupWait(Duration.ofMinutes(2))
                .start();
    }

    @Bean
    JdbcConnectionDetails embeddedPostgresConnectionDetails(EmbeddedPostgres postgres) {
        return new EmbeddedPostgresConnectionDetails(postgres.getJdbcUrl("postgres", "postgres"));
    }

    private record EmbeddedPostgresConnectionDetails(String url) implements JdbcConnectionDetails {

        @Override
        public String getJdbcUrl() {
            return this.url;
        }

        @Override
        public String getUsername() {
            return "postgres";
        }

        @Override
        public String getPassword() {
            return "postgres";
        }
    }

    static class NoDatabaseNamed extends NoneNestedConditions {

        NoDatabaseNamed() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty("spring.datasource.url")
        static class DatabaseNamed {}
    }
}
