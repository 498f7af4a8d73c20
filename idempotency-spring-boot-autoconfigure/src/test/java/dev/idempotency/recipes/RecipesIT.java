package dev.idempotency.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** The examples of {@code docs/recipes.md}, each with messages that come twice, late or out of order. */
class RecipesIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "order", "welcome", "stock", "parcel", "receipt");
        start(
                Listeners.class,
                "topic=" + topic("receipt"),
                "group=" + topic("receipt"),
                "key-digest.secret=of this test");
    }

    @Test
    void anIdThatRepeatsByDesignIsAKeyTogetherWithTheState() {
        deliver("order", "4711;NEW", "4711;CONFIRMED", "4711;NEW", "4711;CONFIRMED");
        assertEffects("order", "order 4711;CONFIRMED", "order 4711;NEW");
    }

    @Test
    void aKeyThatIsADigestHoldsNoPersonalData() {
        deliver("welcome", "ada@example.org", "ada@example.org", "bob@example.org");
        assertThat(effectsOf("welcome")).hasSize(2);
        String ids = "select message_id from idempotency_processed where consumer_id = 'welcome'";
        assertThat(this.app.jdbc().queryForList(ids, String.class)).hasSize(2).noneMatch(id -> id.contains("example"));
    }

    @Test
    void aCompensationMayComeTwiceAndBeforeItsStep() {
        deliver("stock", "o1;RESERVE", "o1;RESERVE", "o1;CANCEL", "o1;CANCEL");
        assertThat(stock()).as("reserved once, given back once").isEqualTo(10);
        deliver("stock", "o2;CANCEL", "o2;RESERVE");
        assertThat(stock()).as("cancelled before it was reserved").isEqualTo(10);
        deliver("stock", "o3;RESERVE");
        assertThat(stock()).isEqualTo(9);
    }

    private int stock() {
        return this.app.jdbc().queryForObject("select available from stock", Integer.class);
    }

    @Test
    void someStatementsNeedNoTable() {
        deliver("parcel", "7;PAID", "7;PAID", "7;SHIPPED", "7;PAID");
        assertThat(this.app.jdbc().queryForMap("select status, last_status from parcel where id = '7'"))
                .as("a transition that is guarded: what is shipped is not paid again")
                .containsEntry("status", "SHIPPED")
                .as("an absolute value: the late duplicate has overwritten the newer one")
                .containsEntry("last_status", "PAID");
    }

    @Test
    void aDerivedKeyIsTheSameOnEveryAttempt() {
        send("receipt", "a receipt", "another receipt");
        awaitCaughtUp("receipt");
        List<String> keys = this.app.bean(MailClient.class).keys;
        assertThat(keys).hasSize(3);
        assertThat(keys.get(0)).as("the first attempt fails after the call").isEqualTo(keys.get(1));
        assertThat(keys.get(2)).isNotEqualTo(keys.get(0));
    }

    private void deliver(String kind, String... payloads) {
        for (String payload : payloads) {
            this.app.send(topic(kind), null, payload);
        }
        awaitCaughtUp(kind);
    }

    /** Payloads are texts here; in an application they are objects, and keys are {@code #order.id + '/' + #order.status}. */
    private static String[] parts(String payload) {
        return payload.split(";");
    }

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

    static class MailClient {

        final List<String> keys = new CopyOnWriteArrayList<>();

        void send(String text, String idempotencyKey) {
            this.keys.add(idempotencyKey);
            if (this.keys.size() == 1) {
                throw new IllegalStateException("The connection is lost after the mail was sent");
            }
        }
    }

    @Import({KeyDigest.class, MailClient.class})
    static class Listeners extends HasEffects {

        private final JdbcTemplate jdbc;
        private final MailClient mailClient;

        Listeners(JdbcTemplate jdbc, MailClient mailClient) {
            this.jdbc = jdbc;
            this.mailClient = mailClient;
            jdbc.execute("create table stock (available int)");
            jdbc.execute("insert into stock values (10)");
            jdbc.execute("create table reservation (order_id text primary key, cancelled boolean not null)");
            jdbc.execute("create table parcel (id text primary key, status text, last_status text)");
        }

        @OfKind(value = "order", key = "#payload.split(';')[0] + '/' + #payload.split(';')[1]")
        void order(String order) {
            this.effects.happen("order " + order);
        }

        @KafkaListener(topics = "welcome${suffix}", groupId = "welcome${suffix}")
        @IdempotentListener(consumer = "welcome", key = "@keyDigest.of(#payload)")
        void welcome(String email) {
            this.effects.happen("welcome " + email);
        }

        @OfKind(value = "stock", key = "#message")
        void stock(String message) {
            String order = parts(message)[0];
            if (parts(message)[1].equals("RESERVE")) {
                reserve(order);
            } else {
                cancel(order);
            }
        }

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

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String receipt) {
            this.mailClient.send(receipt, IdempotencyContext.current().deriveKey("receipt"));
        }

        @KafkaListener(topics = "parcel${suffix}", groupId = "parcel${suffix}")
        void parcel(String message) {
            String id = parts(message)[0];
            String status = parts(message)[1];
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
        }
    }
}
