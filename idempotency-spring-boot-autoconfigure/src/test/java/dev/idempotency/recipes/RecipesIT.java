package dev.idempotency.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.retention.Cleanup;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.RecordInterceptor;

/** Recipes that involve more than a listener: tenants, and the order of a step and its compensation. */
class RecipesIT extends ApplicationTest {

    private JdbcTemplate jdbc;

    @BeforeEach
    void createTenants() {
        this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
        for (String tenant : List.of("tenant_a", "tenant_b")) {
            this.jdbc.execute("create schema " + tenant);
            this.jdbc.execute("create table %s.booking (id text)".formatted(tenant));
        }
    }

    private TestApplication start(String property) {
        List<String> properties = List.of(property, "idempotency.cleanup.enabled=false");
        return start(properties, Tenants.class, BookingListener.class);
    }

    private void send(TestApplication app, String tenant, String id) {
        ProducerRecord<String, String> record = TestApplication.message(this.topic, null, id, id);
        record.headers().add("tenant", tenant.getBytes(StandardCharsets.UTF_8));
        app.send(record);
    }

    private List<String> bookings(String tenant) {
        return this.jdbc.queryForList("select id from %s.booking order by id".formatted(tenant), String.class);
    }

    @Test
    void schemasOfTenantsShareOneTableInASchemaOfItsOwn() {
        try (TestApplication app = start("idempotency.schema.name=shared")) {
            for (String id : List.of("1", "fails once", "1", "fails once")) {
                send(app, "tenant_a", id);
                send(app, "tenant_b", id);
            }
            app.awaitCaughtUp(this.group, this.topic);

            assertThat(bookings("tenant_a")).containsExactly("1", "fails once");
            assertThat(bookings("tenant_b")).containsExactly("1", "fails once");
            assertThat(this.jdbc.queryForList("select message_id from shared.idempotency_processed", String.class))
                    .containsExactlyInAnyOrder(
                            "tenant_a/1", "tenant_a/fails once", "tenant_b/1", "tenant_b/fails once");
            String age = "update shared.idempotency_processed set processed_at = processed_at - interval '%d days'"
                    + " where message_id like '%s'";
            this.jdbc.update(age.formatted(8, "%/1"));
            // Avoids a pause longer than the retention, which would be skipped.
            this.jdbc.update(age.formatted(6, "tenant_a/fails once"));
            assertThat(app.bean(Cleanup.class).run().deleted())
                    .as("of all tenants")
                    .isEqualTo(2);
        }
    }

    @Test
    void aTableForEachTenantIsRefused() {
        assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> start("any=thing"))))
                .hasMessageContainingAll("[" + StartupCheck.ROUTING_DATA_SOURCE + "]", "idempotency.schema.name");
    }

    @Test
    void aCompensationMayComeTwiceAndBeforeItsStep() {
        try (TestApplication app = start(StockListener.class)) {
            deliver(app, "o1;RESERVE", "o1;RESERVE", "o1;CANCEL", "o1;CANCEL");
            assertThat(stock()).as("reserved once, given back once").isEqualTo(10);
            deliver(app, "o2;CANCEL", "o2;RESERVE");
            assertThat(stock()).as("cancelled before it was reserved").isEqualTo(10);
            deliver(app, "o3;RESERVE");
            assertThat(stock()).isEqualTo(9);
        }
    }

    private void deliver(TestApplication app, String... messages) {
        for (String message : messages) {
            app.send(this.topic, null, message);
        }
        app.awaitCaughtUp(this.group, this.topic);
    }

    private int stock() {
        return this.jdbc.queryForObject("select available from stock", Integer.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        @Bean
        DataSource dataSource(@Value("${spring.datasource.url}") String url) {
            TenantDataSource routing = new TenantDataSource();
            routing.setTargetDataSources(Stream.of("tenant_a", "tenant_b")
                    .collect(Collectors.toMap(
                            tenant -> tenant,
                            tenant -> new DriverManagerDataSource(url + "&currentSchema=" + tenant))));
            routing.setDefaultTargetDataSource(new DriverManagerDataSource(url));
            return routing;
        }

        @Bean
        TenantInterceptor tenantInterceptor() {
            return new TenantInterceptor();
        }
    }

    static class TenantDataSource extends AbstractRoutingDataSource {

        static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

        @Override
        protected @Nullable Object determineCurrentLookupKey() {
            return TENANT.get();
        }
    }

    /** Sets the tenant before the transaction begins: in the listener it would be too late. */
    static class TenantInterceptor implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            byte[] tenant = record.headers().lastHeader("tenant").value();
            TenantDataSource.TENANT.set(new String(tenant, StandardCharsets.UTF_8));
            return record;
        }

        @Override
        public void afterRecord(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            TenantDataSource.TENANT.remove();
        }
    }

    static class BookingListener {

        private final Set<String> failed = ConcurrentHashMap.newKeySet();
        private final JdbcTemplate jdbc;

        BookingListener(DataSource dataSource) {
            this.jdbc = new JdbcTemplate(dataSource);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "bookings", key = "#headers['tenant'] + '/' + #headers['message-id']")
        void on(String booking) {
            this.jdbc.update("insert into booking (id) values (?)", booking);
            if (booking.equals("fails once") && this.failed.add(TenantDataSource.TENANT.get() + booking)) {
                throw new IllegalStateException(booking);
            }
        }
    }

    static class StockListener {

        private final JdbcTemplate jdbc;

        StockListener(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table stock (available int)");
            jdbc.execute("insert into stock values (10)");
            jdbc.execute("create table reservation (order_id text primary key, cancelled boolean not null)");
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#message")
        void on(String message) {
            String[] parts = message.split(";");
            if (parts[1].equals("RESERVE")) {
                reserve(parts[0]);
            } else {
                cancel(parts[0]);
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
                // The cancellation came first: a later reservation finds it.
                this.jdbc.update(
                        "insert into reservation (order_id, cancelled) values (?, true) on conflict do nothing", order);
            }
        }
    }
}
