package dev.idempotency.recipes;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.Execution;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.key.MessageIdHeader;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.ExceptionPattern;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;

/** Java examples of README and docs that no test runs: they are compiled here, word for word. */
@SuppressWarnings("unused") // They are there to be compiled.
abstract class DocumentedExamples {

    record Payment(String id) {}

    static class InboxPage {

        @KafkaListener(topics = "payments", groupId = "receipts")
        @IdempotentListener(consumer = "receipts", inbox = "true")
        void on(Payment payment) {}

        void use(Inbox inbox) {
            inbox.find(InboxQuery.ALL.withStatus(InboxStatus.FAILED).withConsumer("receipts"));
            inbox.find(new MessageId("receipts", "4711"));
            inbox.replay(new MessageId("receipts", "4711"));
            inbox.replayFailed("receipts");
            inbox.forgetAndReplay(new MessageId("receipts", "4711"));
        }
    }

    abstract static class ReconciliationPage {

        Reconciliation reconciliation;

        @Scheduled(cron = "0 0 4 * * *")
        void reconcileLedger() {
            this.reconciliation.start(ReconciliationRequest.of("ledger", Duration.ofHours(24)));
        }

        void use(DeadLetters deadLetters) {
            deadLetters.find(DeadLetterQuery.of("ledger"));
            deadLetters.find("ledger", new RecordCoordinates("payments-dlt", 0, 42));
            deadLetters.redrive("ledger", new RecordCoordinates("payments-dlt", 0, 42));
            deadLetters.redriveAll("ledger");
            deadLetters.redriveMatching("ledger", new ExceptionPattern("*TimeoutException"));
            deadLetters.lastRedrive("ledger");
            deadLetters.cancel("ledger");
        }

        void use(Reconciliation reconciliation, Instant deployedAt) {
            reconciliation.start(ReconciliationRequest.of("ledger", Duration.ofHours(24)));
            reconciliation.lastReconciliation("ledger");
            reconciliation.start(
                    ReconciliationRequest.of("ledger", Duration.ofHours(24)).withReplayFrom(deployedAt));
        }
    }

    static class StrategiesPage {

        record Measurement(double celsius) {}

        record AccountState(String accountId, long version) {}

        record Payment(String id, String account, BigDecimal amount) {}

        interface Accounts {

            void save(AccountState state);
        }

        abstract static class AtCommit {

            List<Payment> ledger;

            @KafkaListener(topics = "payments", groupId = "billing")
            @IdempotentListener(claimAtCommit = "true")
            void on(Payment payment) {
                this.ledger.add(payment);
            }
        }

        abstract static class ByOffset {

            List<Measurement> measurements;

            @KafkaListener(topics = "measurements", groupId = "climate")
            @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
            void on(Measurement measurement) {
                this.measurements.add(measurement);
            }
        }

        abstract static class ByVersion {

            Accounts accounts;

            @KafkaListener(topics = "accounts")
            @IdempotentListener(
                    strategy = DeduplicationStrategy.VERSION,
                    key = "#payload.accountId",
                    version = "#payload.version")
            void on(AccountState state) {
                this.accounts.save(state);
            }

            @KafkaListener(topics = "accounts")
            @IdempotentListener(key = "#payload.id + '/' + #payload.version")
            void onEach(AccountState state) {}
        }

        abstract static class ByConstraint {

            JdbcTemplate jdbc;

            @KafkaListener(topics = "payments")
            @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "payment_pkey")
            void on(Payment payment) {
                jdbc.update("insert into payment (id, amount) values (?, ?)", payment.id(), payment.amount());
                jdbc.update(
                        "update account set balance = balance + ? where id = ?", payment.amount(), payment.account());
            }
        }
    }

    abstract static class LocksPage {

        record Order(String id, String customerId) {}

        IdempotentOperations idempotent;
        List<Order> orders;

        @KafkaListener(topics = "orders")
        @IdempotentListener(key = "#order.id", lock = "'customer/' + #order.customerId")
        void on(Order order) {
            this.orders.add(order);
        }

        void fromCode() {
            idempotent.lock("customer/42");
        }
    }

    static class RetentionPage {

        @KafkaListener(topics = "payments")
        @IdempotentListener(consumer = "billing", retention = "30d")
        void on(Payment payment) {}
    }

    static class PollsPage {

        @KafkaListener(topics = "payments")
        @IdempotentListener(transactionPerPoll = "true")
        void on(Payment payment) {}
    }

    static class FailuresPage {

        @Bean
        FailureClassifier failureClassifier() {
            DatabaseFailureClassifier database = new DatabaseFailureClassifier();
            return failure -> NestedExceptionUtils.getMostSpecificCause(failure) instanceof ConnectException
                    ? FailureKind.OUTAGE
                    : database.classify(failure);
        }
    }

    static class ProducingPage {

        KafkaTemplate<String, String> template;
        String topic;

        void send(String order) {
            this.template.send(MessageIdHeader.stamp(new ProducerRecord<>(this.topic, order, "paid"), order + "/PAID"));
        }
    }

    abstract static class OperationsPage {

        record Receipt(long number) {}

        record Row(String id) {}

        IdempotentOperations idempotent;
        TransactionTemplate transaction;
        JdbcTemplate jdbc;

        abstract Receipt book(Payment payment);

        abstract void insert(Row row);

        @Bean
        IdempotentConsumer receipts() {
            return IdempotentConsumer.named("receipts").retention(Duration.ofDays(30));
        }

        void use(String key, Payment payment, Row row, List<MessageId> ids) {
            Execution<Receipt> execution =
                    idempotent.execute(MessageId.of("receipts", key), Receipt.class, () -> book(payment));
            execution.duplicate();
            execution.result();

            boolean first = idempotent.claim(MessageId.of("imports", row.id()));
            Set<MessageId> fresh = idempotent.claimAll(ids);
        }

        void run(String file, Iterable<List<Row>> chunks) {
            for (List<Row> chunk : chunks) {
                transaction.executeWithoutResult(status -> importNew(file, chunk));
            }
        }

        private void importNew(String file, List<Row> chunk) {
            Map<MessageId, Row> rows = chunk.stream()
                    .collect(Collectors.toMap(
                            row -> MessageId.of("nightly-import", file + "/" + row.id()),
                            row -> row,
                            (first, again) -> first,
                            LinkedHashMap::new));
            Set<MessageId> fresh = idempotent.claimAll(rows.keySet());
            fresh.forEach(id -> insert(rows.get(id)));
        }

        record Booking(long number) {}

        record Order(String account) {}

        abstract Booking book(Order order);

        @PostMapping(path = "/api/payments", headers = "Idempotency-Key")
        Booking book(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
            MessageId id = MessageId.of("bookings", key);
            return this.idempotent
                    .execute(id, order.toString(), Booking.class, () -> book(order))
                    .result();
        }

        void on(String order, @Headers Map<String, String> headers) {
            idempotent.execute(
                    MessageId.of("orders", headers.get("message-id")),
                    () -> jdbc.update("insert into orders (name) values (?)", order));
        }
    }

    abstract static class RecipesPage {

        record Order(String id, String status) {}

        record Receipt(int number) {}

        interface Gateway {

            Receipt charge(String idempotencyKey, String order);
        }

        interface Mailer {

            void send(String order);
        }

        JdbcTemplate jdbc;
        Gateway gateway;

        @IdempotentListener(key = "#order.id + '/' + #order.status")
        void on(Order order) {}

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String order) {
            Receipt receipt =
                    IdempotencyContext.current().step("charge", Receipt.class, key -> this.gateway.charge(key, order));
            this.jdbc.update("insert into charge (order_id, receipt) values (?, ?)", order, receipt.number());
        }

        abstract static class Confirmations {

            JdbcTemplate jdbc;
            Mailer mailer;

            @KafkaListener(topics = "${topic}", groupId = "${group}")
            @IdempotentListener(consumer = "mails", inbox = "true")
            void on(String order) {
                this.jdbc.update("insert into confirmation (order_id) values (?)", order);
                IdempotencyContext.current().stepAtMostOnce("mail", () -> this.mailer.send(order));
            }
        }
    }
}
