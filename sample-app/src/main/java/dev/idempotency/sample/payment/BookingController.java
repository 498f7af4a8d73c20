package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import java.math.BigDecimal;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Books a payment that a client sends by HTTP once, and returns the same response however often it is sent. */
@RestController
class BookingController {

    static final String KEY_HEADER = "Idempotency-Key";

    private final IdempotentOperations idempotent;
    private final JdbcClient jdbc;

    BookingController(IdempotentOperations idempotent, JdbcClient jdbc) {
        this.idempotent = idempotent;
        this.jdbc = jdbc;
    }

    @PostMapping(path = "/api/payments", headers = KEY_HEADER)
    Booking book(@RequestHeader(KEY_HEADER) String key, @RequestBody Order order) {
        MessageId id = MessageId.of("bookings", key);
        return this.idempotent
                .execute(id, order.toString(), Booking.class, () -> book(order))
                .result();
    }

    private Booking book(Order order) {
        long number = this.jdbc
                .sql("insert into booking (account, amount) values (:account, :amount) returning number")
                .paramSource(order)
                .query(Long.class)
                .single();
        return new Booking(number, order.account(), order.amount());
    }

    /** A request. */
    record Order(String account, BigDecimal amount) {

        Order {
            if (account == null || account.isBlank() || amount == null) {
                throw new IllegalArgumentException("An order needs an account and an amount");
            }
        }
    }

    /** A response. */
    record Booking(long number, String account, BigDecimal amount) {}
}
