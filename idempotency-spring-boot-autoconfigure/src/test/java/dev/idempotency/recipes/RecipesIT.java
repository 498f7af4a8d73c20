package dev.idempotency.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** The examples of {@code docs/recipes.md}, each with messages that come twice, late or out of order. */
class RecipesIT extends ApplicationTest {

    @Test
    void anIdThatRepeatsByDesignIsAKeyTogetherWithTheState() {
        try (TestApplication app = start(Tables.class, OrderListener.class)) {
            send(app, "4711;NEW", "4711;CONFIRMED", "4711;NEW", "4711;CONFIRMED");
            assertThat(app.jdbc().queryForList("select status from order_log order by id", String.class))
                    .containsExactly("NEW", "CONFIRMED");
        }
    }

    @Test
    void aKeyThatIsADigestHoldsNoPersonalData() {
        try (TestApplication app = start(
                List.of("key-digest.secret=of this test"), Tables.class, WelcomeListener.class, KeyDigest.class)) {
            send(app, "ada@example.org", "ada@example.org", "bob@example.org");
            assertThat(app.jdbc().queryForObject("select count(*) from welcome", Integer.class))
                    .isEqualTo(2);
            assertThat(app.jdbc().queryForList("select message_id from idempotency_processed", String.class))
                    .hasSize(2)
                    .noneMatch(id -> id.contains("example"));
        }
    }

    @Test
    void aCompensationMayComeTwiceAndBeforeItsStep() {
        try (TestApplication app = start(Tables.class, StockListener.class)) {
            send(app, "o1;RESERVE", "o1;RESERVE", "o1;CANCEL", "o1;CANCEL");
            assertThat(stock(app)).as("reserved once, given back once").isEqualTo(10);
            send(app, "o2;CANCEL", "o2;RESERVE");
            assertThat(stock(app)).as("cancelled before it was reserved").isEqualTo(10);
            send(app, "o3;RESERVE");
            assertThat(stock(app)).isEqualTo(9);
        }
    }

    @Test
    void someStatementsNeedNoTable() {
        try (TestApplication app = start(Tables.class, NoTableListener.class)) {
            send(app, "7;PAID", "7;PAID", "7;SHIPPED", "7;PAID");
            assertThat(app.jdbc().queryForObject("select status from parcel where id = '7'", String.class))
                    .as("a transition that is guarded: what is shipped is not paid again")
                    .isEqualTo("SHIPPED");
            assertThat(app.jdbc().queryForObject("select last_status from parcel where id = '7'", String.class))
                    .as("an absolute value: the late duplicate has overwritten the newer one")
                    .isEqualTo("PAID");
        }
    }

    @Test
    void aDerivedKeyIsTheSameOnEveryAttempt() {
        try (TestApplication app = start(MailClient.class, ReceiptListener.class)) {
            app.send(this.topic, "1", "a receipt");
            app.send(this.topic, "2", "another receipt");
            app.awaitCaughtUp(this.group, this.topic);
            List<String> keys = app.bean(MailClient.class).keys;
            assertThat(keys).hasSize(3);
            assertThat(keys.get(0)).as("the first attempt fails after the call").isEqualTo(keys.get(1));
            assertThat(keys.get(2)).isNotEqualTo(keys.get(0));
        }
    }

    private static int stock(TestApplication app) {
        return app.jdbc().queryForObject("select available from stock", Integer.class);
    }

    private void send(TestApplication app, String... payloads) {
        for (String payload : payloads) {
            app.send(this.topic, null, payload);
        }
        app.awaitCaughtUp(this.group, this.topic);
    }

    /** Payloads are texts here; in an application they are objects, and keys are {@code #order.id + '/' + #order.status}. */
    private static String[] parts(String payload) {
        return payload.split(";");
    }

    static class Tables {

        Tables(JdbcTemplate jdbc) {
            List.of(
                            "create table order_log (id serial, status text)",
                            "create table welcome (email text)",
                            "create table stock (available int)",
                            "insert into stock values (10)",
                            "create table reservation (order_id text primary key, cancelled boolean not null)",
                            "create table parcel (id text primary key, status text, last_status text)")
                    .forEach(jdbc::execute);
        }
    }

    abstract static class Writing {

        @Autowired
        JdbcTemplate jdbc;
    }

    static class OrderListener extends Writing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#payload.split(';')[0] + '/' + #payload.split(';')[1]")
        void on(String order) {
            this.jdbc.update("insert into order_log (status) values (?)", parts(order)[1]);
        }
    }

    // tag::digest[]
    @Component("keyDigest")
    static class KeyDigest {

        private final SecretKeySpec secret;

        KeyDigest(@Value("${key-digest.secret}") String secret) {
            this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
        }

        public String of(String personal) throws GeneralSecurityException {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(this.secret);
            return HexFormat.of().formatHex(mac.doFinal(personal.getBytes(StandardCharsets.UTF_8)));
        }
    }
    // end::digest[]

    static class WelcomeListener extends Writing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "welcome", key = "@keyDigest.of(#payload)")
        void on(String email) {
            this.jdbc.update("insert into welcome values (?)", email);
        }
    }

    static class StockListener extends Writing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "stock", key = "#message")
        void on(String message) {
            String order = parts(message)[0];
            if (parts(message)[1].equals("RESERVE")) {
                reserve(order);
            } else {
                cancel(order);
            }
        }

        // tag::saga[]
        private void reserve(String order) {
            int reserved = this.jdbc.update(
                    "insert into reservation (order_id, cancelled) values (?, false) on conflict do nothing", order);
            if (reserved == 1) {
                this.jdbc.update("update stock set available = available - 1");
            }
        }

        private void cancel(String order) {
            int undone = this.jdbc.update(
                    "update reservation set cancelled = true where order_id = ? and not cancelled", order);
            if (undone == 1) {
                this.jdbc.update("update stock set available = available + 1");
            } else {
                // It came first: whoever reserves later finds it cancelled.
                this.jdbc.update(
                        "insert into reservation (order_id, cancelled) values (?, true) on conflict do nothing", order);
            }
        }
        // end::saga[]
    }

    static class MailClient {

        final List<String> keys = new CopyOnWriteArrayList<>();

        void send(String text, String idempotencyKey) {
            this.keys.add(idempotencyKey);
            if (this.keys.size() == 1) {
                throw new IllegalStateException("The connection is lost after the mail was sent");
            }
        }
    }

    static class ReceiptListener {

        private final MailClient mailClient;

        ReceiptListener(MailClient mailClient) {
            this.mailClient = mailClient;
        }

        // tag::calling[]
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String receipt) {
            this.mailClient.send(receipt, IdempotencyContext.current().deriveKey("receipt"));
        }
        // end::calling[]
    }

    static class NoTableListener extends Writing {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        void on(String message) {
            String id = parts(message)[0];
            String status = parts(message)[1];
            // tag::no-table[]
            // An upsert of an absolute value: twice is as good as once, late is not.
            this.jdbc.update("""
                    insert into parcel (id, last_status) values (?, ?)
                    on conflict (id) do update set last_status = excluded.last_status
                    """, id, status);
            // A guarded transition: only from the state before it.
            if (status.equals("PAID")) {
                this.jdbc.update("update parcel set status = 'PAID' where id = ? and status is null", id);
            } else {
                this.jdbc.update("update parcel set status = 'SHIPPED' where id = ? and status = 'PAID'", id);
            }
            // end::no-table[]
        }
    }
}
