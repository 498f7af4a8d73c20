package dev.idempotency.sample.payment;

import java.math.BigDecimal;

/**
 * Money that was paid into an account.
 *
 * @param id what makes it this payment and no other, however often it is sent
 * @param account whom it is for
 * @param amount how much
 */
public record Payment(String id, String account, BigDecimal amount) {

    /** The topic that payments arrive in. */
    public static final String TOPIC = "payments";

    /** The header that carries the payment's id: one of those that {@code @IdempotentListener} looks for by itself. */
    public static final String ID_HEADER = "message-id";

    public Payment {
        if (id.isBlank() || account.isBlank() || amount.signum() <= 0) {
            throw new IllegalArgumentException(
                    "A payment needs an id, an account and a positive amount, but has '%s', '%s' and %s"
                            .formatted(id, account, amount));
        }
    }
}
