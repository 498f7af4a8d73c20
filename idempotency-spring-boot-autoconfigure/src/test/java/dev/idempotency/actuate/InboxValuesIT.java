package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.client.RestClient;

/** To whom the inbox shows what was received, with and without Spring Security. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InboxValuesIT {

    private static final String SANITIZED = "******";
    private static final String SHOW = "management.endpoint.idempotencyinbox.show-values=";
    private static final String ROLES = "management.endpoint.idempotencyinbox.roles=";

    private final TestDatabase database = TestPostgres.createDatabase();
    private final String topic = TestKafka.createTopic("values", 1);
    private final String group = TestKafka.uniqueName("values");

    @BeforeAll
    void receiveAMessageThatFails() {
        try (TestApplication app = start(List.of())) {
            app.send(this.topic, "4711", "secret payload");
            app.awaitCaughtUp(this.group, this.topic);
        }
    }

    @AfterAll
    void close() {
        this.database.close();
    }

    private TestApplication start(List<String> properties, Class<?>... classes) {
        List<String> all = new ArrayList<>(List.of(
                "spring.main.web-application-type=servlet",
                "server.port=0",
                "management.endpoints.web.exposure.include=idempotencyinbox",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=1",
                "topic=" + this.topic,
                "group=" + this.group));
        all.addAll(properties);
        List<Class<?>> beans = new ArrayList<>(Arrays.asList(classes));
        beans.add(Failing.class);
        return TestApplication.start(this.database, all, beans.toArray(Class<?>[]::new));
    }

    private static String get(TestApplication app, @Nullable String user, String query) {
        return RestClient.create(
                        "http://localhost:" + app.context().getEnvironment().getProperty("local.server.port"))
                .get()
                .uri("/actuator/idempotencyinbox?consumer=failing" + query)
                .headers(headers -> {
                    if (user != null) {
                        headers.setBasicAuth(user, "password");
                    }
                })
                .retrieve()
                .body(String.class);
    }

    private static void assertHidden(TestApplication app, @Nullable String user) {
        String message = get(app, user, "&messageId=4711");
        assertThat(message).doesNotContain("secret", "IllegalStateException");
        assertThat(JsonPath.<String>read(message, "$.payload.text")).isEqualTo(SANITIZED);
        assertThat(JsonPath.<String>read(message, "$.message.lastError")).isEqualTo(SANITIZED);
        assertThat(JsonPath.<List<String>>read(message, "$.headers[*].value.text"))
                .isNotEmpty()
                .containsOnly(SANITIZED);
        assertThat(JsonPath.<List<String>>read(message, "$.headers[*].name")).doesNotContain(SANITIZED);
        assertThat(JsonPath.<String>read(message, "$.message.messageId")).isEqualTo("4711");
        String page = get(app, user, "");
        assertThat(page).doesNotContain("secret", "IllegalStateException");
        assertThat(JsonPath.<String>read(page, "$.messages[0].lastError")).isEqualTo(SANITIZED);
        assertThat(JsonPath.<String>read(page, "$.messages[0].messageId")).isEqualTo("4711");
    }

    private static void assertShown(TestApplication app, @Nullable String user) {
        String message = get(app, user, "&messageId=4711");
        assertThat(JsonPath.<String>read(message, "$.payload.text")).isEqualTo("secret payload");
        assertThat(JsonPath.<String>read(message, "$.message.lastError")).contains("secret reason");
        assertThat(JsonPath.<List<String>>read(message, "$.headers[*].value.text"))
                .contains("4711");
        assertThat(JsonPath.<String>read(get(app, user, ""), "$.messages[0].lastError"))
                .contains("secret reason");
    }

    @Test
    void byDefaultNobodyIsShownAnything() {
        try (TestApplication app = start(List.of())) {
            assertHidden(app, null);
        }
    }

    @Test
    void whenAuthorizedNobodyIsShownAnythingWithoutSpringSecurity() {
        try (TestApplication app = start(List.of(SHOW + "when-authorized"))) {
            assertHidden(app, null);
        }
    }

    @Test
    void alwaysMeansEverybody() {
        try (TestApplication app = start(List.of(SHOW + "always"))) {
            assertShown(app, null);
        }
    }

    @Test
    void byDefaultUsersAreNotShownAnythingWhateverTheirRoles() {
        try (TestApplication app = start(List.of(), Security.class)) {
            assertHidden(app, "auditor");
        }
    }

    @Test
    void whenAuthorizedWithRolesThoseWhoHaveOneAreShownEverything() {
        try (TestApplication app = start(List.of(SHOW + "when-authorized", ROLES + "AUDITOR"), Security.class)) {
            assertHidden(app, null);
            assertHidden(app, "clerk");
            assertShown(app, "auditor");
        }
    }

    @Test
    void whenAuthorizedWithoutRolesAllWhoAreAuthenticatedAre() {
        try (TestApplication app = start(List.of(SHOW + "when-authorized"), Security.class)) {
            assertHidden(app, null);
            assertShown(app, "clerk");
        }
    }

    static class Failing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "failing", inbox = "true")
        void on(String payload) {
            throw new IllegalStateException("secret reason");
        }
    }

    @EnableWebSecurity
    static class Security {

        @Bean
        SecurityFilterChain everybodyMayAsk(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("clerk")
                            .password("{noop}password")
                            .roles("CLERK")
                            .build(),
                    User.withUsername("auditor")
                            .password("{noop}password")
                            .roles("AUDITOR")
                            .build());
        }
    }
}
