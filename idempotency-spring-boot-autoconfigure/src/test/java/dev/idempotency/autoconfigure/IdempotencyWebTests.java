package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.LockTimeoutException;
import dev.idempotency.MessageConflictException;
import dev.idempotency.MessageId;
import dev.idempotency.ResultForgottenException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The responses of controllers that use claims from code. */
class IdempotencyWebTests {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IdempotencyWebAutoConfiguration.class));

    @Test
    void nothingIsAnsweredUnlessAskedFor() {
        this.runner.run(context ->
                assertThat(context).doesNotHaveBean(IdempotencyWebAutoConfiguration.IdempotencyExceptionHandler.class));
    }

    @ParameterizedTest
    @CsvSource({"key, 400", "timeout, 409", "locked, 409", "forgotten, 410", "conflict, 422"})
    void exceptionsAreAnsweredWithProblemDetails(String failure, int status) {
        this.runner.withPropertyValues("idempotency.web.problem-details=true").run(context -> {
            MockMvcTester mvc = MockMvcTester.create(MockMvcBuilders.standaloneSetup(new Failing())
                    .setControllerAdvice(
                            context.getBean(IdempotencyWebAutoConfiguration.IdempotencyExceptionHandler.class))
                    .build());
            assertThat(mvc.get().uri("/" + failure))
                    .hasStatus(status)
                    .bodyJson()
                    .extractingPath("$.detail")
                    .asString()
                    .isNotBlank();
        });
    }

    @RestController
    static class Failing {

        private static final Map<String, RuntimeException> FAILURES = Map.of(
                "timeout", new ClaimTimeoutException("held", null),
                "locked", new LockTimeoutException("held", null),
                "forgotten", new ResultForgottenException("gone", null),
                "conflict", new MessageConflictException("other"));

        @GetMapping("/{failure}")
        void fail(@PathVariable("failure") String failure) {
            if (failure.equals("key")) {
                MessageId.of("bookings", " ");
            }
            throw FAILURES.get(failure);
        }
    }
}
