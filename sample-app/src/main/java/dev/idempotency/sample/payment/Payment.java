package dev.idempotency.sample.payment;

import java.math.BigDecimal;

/**
 * A payment into an account.
 *
 * @param id the unique id of the payment, however often it is sent
 * @param account the receiving account
 * @param amount the amount
 */
public record Payment(String id, String account, BigDecimal amount) {

    /** The topic of payments. */
    public static final String TOPIC = "payments";

    /** The header with the payment's id: one of the default headers of {@code @IdempotentListener}. */
    public static final String ID_HEADER = "message-id";

    public Payment {
        if (id.isBlank() || account.isBlank() || amount.signum() <= 0) {
            throw new IllegalArgumentException(
                    "A payment needs an id, an account and a positive amount, but has '%s', '%s' and %s"
                            .formatted(id, account, amount));
        }
    }
}
