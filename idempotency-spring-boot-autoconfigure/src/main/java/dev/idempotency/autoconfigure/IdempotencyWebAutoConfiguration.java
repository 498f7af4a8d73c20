package dev.idempotency.autoconfigure;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.LockTimeoutException;
import dev.idempotency.MessageConflictException;
import dev.idempotency.ResultForgottenException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Auto-configuration for the answers of controllers that use {@link IdempotentOperations}. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(RestControllerAdvice.class)
@ConditionalOnProperty(name = "idempotency.web.problem-details", havingValue = "true")
public final class IdempotencyWebAutoConfiguration {

    /** Registered as a member of a configuration; ordered before handlers of the application that handle every exception. */
    @RestControllerAdvice
    @Order(0)
    static class IdempotencyExceptionHandler {

        @ExceptionHandler
        ProblemDetail onUnusableKey(InvalidMessageKeyException ex) {
            return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(ex.getMessage()));
        }

        @ExceptionHandler(MessageConflictException.class)
        ProblemDetail onOtherRequest() {
            return ProblemDetail.forStatusAndDetail(
                    HttpStatus.valueOf(422), "The key was used before, for another request.");
        }

        @ExceptionHandler({ClaimTimeoutException.class, LockTimeoutException.class})
        ProblemDetail onConcurrentRequest() {
            return ProblemDetail.forStatusAndDetail(
                    HttpStatus.CONFLICT,
                    "Another request with this key, or for the same object, is in progress: try again.");
        }

        @ExceptionHandler(ResultForgottenException.class)
        ProblemDetail onForgottenResult() {
            return ProblemDetail.forStatusAndDetail(
                    HttpStatus.GONE, "The request was processed, but its result is no longer stored.");
        }
    }
}
