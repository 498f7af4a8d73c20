package dev.idempotency.sample.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.Test;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.test.EmbeddedKafkaBroker;

/** Tests which servers are configured, without starting them. The tests of the page show that they work. */
class EmbeddedServersTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withInitializer(context -> context.addBeanFactoryPostProcessor(beans -> {
                for (String name : beans.getBeanDefinitionNames()) {
                    beans.getBeanDefinition(name).setLazyInit(true);
                }
            }))
            .withUserConfiguration(EmbeddedPostgresConfiguration.class, EmbeddedKafkaConfiguration.class);

    @Test
    void withNothingNamedBothServersAreEmbedded() {
        this.runner.run(context -> assertThat(context)
                .hasSingleBean(EmbeddedPostgres.class)
                .hasSingleBean(JdbcConnectionDetails.class)
                .hasSingleBean(EmbeddedKafkaBroker.class)
                .hasSingleBean(KafkaConnectionDetails.class));
    }

    @Test
    void whoNamesADatabaseGetsNoOther() {
        this.runner
                .withPropertyValues("spring.datasource.url=jdbc:postgresql://db.example.com/ledger")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(EmbeddedPostgres.class)
                        .doesNotHaveBean(JdbcConnectionDetails.class)
                        .hasSingleBean(EmbeddedKafkaBroker.class));
    }

    @Test
    void whoNamesABrokerGetsNoOther() {
        this.runner
                .withPropertyValues("spring.kafka.bootstrap-servers=kafka.example.com:9092")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(EmbeddedKafkaBroker.class)
                        .doesNotHaveBean(KafkaConnectionDetails.class)
                        .hasSingleBean(EmbeddedPostgres.class));
    }
}
