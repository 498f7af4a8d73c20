package dev.idempotency;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class IdempotencyContextTests {

    private static final MessageId FIRST = new MessageId("billing", "1");
    private static final MessageId SECOND = new MessageId("billing", "2");

    /** Every attempt gets the same UUID, of version 8. */
    @Test
    void theKeyDoesNotChangeFromOneReleaseToTheNext() {
        assertThat(derive(FIRST, "email")).isEqualTo("d8f0dbaf-57bf-8707-9942-b4583670198a");
    }

    @Test
    void theKeyDiffersForAnotherPurposeMessageOrConsumer() {
        Set<String> keys = Set.of(
                derive(FIRST, "email"),
                derive(FIRST, "invoice"),
                derive(SECOND, "email"),
                derive(new MessageId("billing1", "1"), "email"),
                derive(new MessageId("billing", "11"), "email"),
                derive(new MessageId("billing", "1"), "1email"));
        assertThat(keys).hasSize(6);
    }

    @Test
    void aMessageOfABatchIsNamedByItsIndex() {
        try (var scope = IdempotencyContextHolder.open(List.of(FIRST, SECOND))) {
            assertThat(scope).isNotNull();
            IdempotencyContext context = IdempotencyContext.current();
            assertThat(context.size()).isEqualTo(2);
            assertThat(context.messageId(1)).isEqualTo(SECOND);
            assertThat(context.deriveKey(0, "email")).isEqualTo(derive(FIRST, "email"));
            assertThrown(IllegalStateException.class, context::messageId, "2 messages");
        }
    }

    @Test
    void aMessageThatIsProcessedWithoutAnIdHasNoKey() {
        try (var scope = IdempotencyContextHolder.open(Arrays.asList((MessageId) null))) {
            assertThat(scope).isNotNull();
            assertThrown(
                    IllegalStateException.class,
                    () -> IdempotencyContext.current().deriveKey("email"),
                    "on-missing");
        }
    }

    @Test
    void aStepIsRefusedWhereNoIdIsClaimedBeforeIt() {
        try (var scope = IdempotencyContextHolder.open(List.of(FIRST))) {
            assertThat(scope).isNotNull();
            assertThrown(
                    IllegalStateException.class,
                    () -> IdempotencyContext.current().stepAtMostOnce("mail", () -> {}),
                    "Step 'mail' was not taken for consumer 'billing'",
                    "DeduplicationStrategy.MESSAGE_ID, claimAtCommit = \"false\"");
        }
    }

    @Test
    void outsideAListenerThereIsNoContext() {
        assertThrown(IllegalStateException.class, IdempotencyContext::current);
        derive(FIRST, "email");
        assertThrown(IllegalStateException.class, IdempotencyContext::current);
    }

    private static String derive(MessageId id, String purpose) {
        try (var scope = IdempotencyContextHolder.open(List.of(id))) {
            assertThat(scope).isNotNull();
            return IdempotencyContext.current().deriveKey(purpose);
        }
    }
}
