package dev.idempotency.internal.operation;

import static dev.idempotency.app.Thrown.assertThrown;
import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DuplicateKind;
import dev.idempotency.Execution;
import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageConflictException;
import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.StoreFailedException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.step.Steps;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Claims from code, in an application without any Kafka listener and without a broker, on a real database. */
@ParameterizedClass
@EnumSource(StoreServer.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperationsIT {

    private static final int MAX_SIZE = 2000;

    @Parameter
    private StoreServer server;

    private TestApplication app;
    private IdempotentOperations operations;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;
    private Outcomes outcomes;
    private ExecutorService threads;

    /** Selects how many transactions wait for another one. */
    private String waiting() {
        return switch (this.server) {
            case POSTGRES ->
                "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
            case MARIADB -> "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
            case H2 -> "select count(*) from information_schema.sessions where executing_statement like 'insert %'";
        };
    }

    /** Has a row be older by so many days. */
    private void age(String table, String key, double days) {
        String time =
                switch (this.server) {
                    case POSTGRES -> "processed_at - ? * interval '1 second'";
                    case MARIADB -> "processed_at - interval ? second";
                    case H2 -> "dateadd(second, -cast(? as bigint), processed_at)";
                };
        this.jdbc.update(
                "update %s set processed_at = %s where message_id = ?".formatted(table, time),
                Math.round(days * 86_400),
                key);
    }

    record Receipt(
            long number,
            BigDecimal amount,
            Instant at,
            String text,
            @Nullable String nothing) {

        static Receipt of(long number) {
            Instant at = Instant.parse("2026-01-01T00:00:00.123456Z");
            return new Receipt(number, new BigDecimal("10.00"), at, "grün €\u0000\uD83D\uDE00", null);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({TestApplication.WithJpa.class, Outcomes.class})
    static class Consumers {

        @Bean
        IdempotentConsumer receipts() {
            return IdempotentConsumer.named("receipts")
                    .retention(Duration.ofDays(30))
                    .resultRetention(Duration.ofDays(1));
        }

        @Bean
        IdempotentConsumer imports() {
            return IdempotentConsumer.named("imports");
        }
    }

    @BeforeParameterizedClassInvocation
    void start(StoreServer server) {
        this.threads = Executors.newCachedThreadPool();
        this.app = TestApplication.start(
                server.emptyDatabase().replace("LOCK_TIMEOUT=3000", "LOCK_TIMEOUT=30000"),
                List.of(
                        "spring.kafka.bootstrap-servers=localhost:1",
                        "idempotency.claim.timeout=1s",
                        "idempotency.results.max-size=" + MAX_SIZE + "B",
                        "idempotency.cleanup.enabled=false"),
                Consumers.class);
        this.operations = this.app.bean(IdempotentOperations.class);
        this.outcomes = this.app.bean(Outcomes.class);
        this.jdbc = this.app.jdbc();
        this.transaction = new TransactionTemplate(this.app.bean(PlatformTransactionManager.class));
        this.jdbc.execute("create table effect (name varchar(100) not null)");
    }

    @AfterParameterizedClassInvocation
    void stop() {
        this.threads.shutdownNow();
        if (this.app != null) {
            this.app.close();
        }
    }

    @BeforeEach
    void empty() {
        this.jdbc.update("delete from idempotency_processed");
        this.jdbc.update("delete from idempotency_result");
        this.jdbc.update("delete from idempotency_step");
        this.jdbc.update("delete from effect");
        this.outcomes.processed.clear();
        this.outcomes.duplicates.clear();
        this.outcomes.failed.set(0);
    }

    private static MessageId id(String key) {
        return MessageId.of("receipts", key);
    }

    private void happen(@Nullable String name) {
        this.jdbc.update("insert into effect (name) values (?)", name);
    }

    private List<String> effects() {
        return this.jdbc.queryForList("select name from effect order by name", String.class);
    }

    private boolean isDuplicate(String key) {
        return this.operations.execute(id(key), () -> {}).duplicate();
    }

    /** Operations of the application with another store or another transaction manager. */
    private IdempotentOperations operationsWith(Duration claimTimeout, @Nullable PlatformTransactionManager manager) {
        return new IdempotentTemplate(
                new JdbcProcessedMessageStore(this.app.bean(IdempotencyDatabase.class), claimTimeout),
                this.app.bean(DeclaredConsumers.class),
                this.app.bean(ResultStore.class),
                null,
                null,
                (manager != null)
                        ? new StaticListableBeanFactory(Map.of("manager", manager))
                        : this.app.context().getBeanFactory());
    }

    private void awaitWaiting(int transactions) {
        Awaitility.await(transactions + " waiting transactions")
                .until(() -> this.jdbc.queryForObject(waiting(), Integer.class) == transactions);
    }

    private void elsewhere(Runnable work) {
        join(this.threads.submit(work));
    }

    private static void join(Future<?> other) {
        try {
            other.get(30, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private void whileHeld(MessageId id, Runnable action) {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Future<?> holder = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.operations.claim(id);
            claimed.countDown();
            await(end);
            status.setRollbackOnly();
        }));
        await(claimed);
        try {
            action.run();
        } finally {
            end.countDown();
            join(holder);
        }
    }

    @Test
    void aDuplicateWithAnotherFingerprintIsRefusedAndNotAnswered() {
        this.operations.execute(id("a"), "{amount: 1}", Long.class, () -> 1L);
        assertThat(this.operations
                        .execute(id("a"), "{amount: 1}", Long.class, () -> 2L)
                        .result())
                .isEqualTo(1);
        assertThrown(
                MessageConflictException.class,
                () -> this.operations.execute(id("a"), "{amount: 2}", Long.class, () -> 2L));
        assertThrown(
                MessageConflictException.class,
                () -> this.operations.execute(id("a"), "{amount: 2}", () -> happen("a")));
        assertThat(effects()).isEmpty();
        assertThat(this.operations.execute(id("a"), Long.class, () -> 3L).result())
                .as("without a fingerprint")
                .isEqualTo(1);
    }

    @Test
    void workIsDoneOnceAndADuplicateDoesNone() {
        assertThat(this.operations.execute(id("a"), () -> happen("a")).duplicate())
                .isFalse();
        Execution<?> second = this.operations.execute(id("a"), () -> happen("a"));
        assertThat(second.duplicate()).isTrue();
        assertThat(second.result()).isNull();
        assertThat(effects()).containsExactly("a");
        assertThat(this.jdbc.queryForObject("select count(*) from idempotency_result", Integer.class))
                .isZero();
        assertThat(this.outcomes.processed).containsExactly(id("a"));
        assertThat(this.outcomes.duplicates).singleElement().satisfies(duplicate -> {
            assertThat(duplicate.id()).isEqualTo(id("a"));
            assertThat(duplicate.kind()).isEqualTo(DuplicateKind.REPUBLICATION);
            assertThat(duplicate.age()).isNotNull();
        });
    }

    @Test
    void ofManyAtOnceOneDoesTheWorkThoughTheFirstOnesFail() throws Exception {
        IdempotentOperations patient = operationsWith(Duration.ofSeconds(30), null);
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch fail = new CountDownLatch(1);
        Callable<Execution<Receipt>> call = () -> patient.execute(id("a"), Receipt.class, () -> {
            claimed.countDown();
            await(fail);
            if (calls.incrementAndGet() <= 3) {
                throw new IllegalStateException("no");
            }
            happen("a");
            return Receipt.of(calls.get());
        });
        List<Future<Execution<Receipt>>> executions =
                Stream.generate(() -> this.threads.submit(call)).limit(6).toList();
        await(claimed);
        awaitWaiting(5);
        fail.countDown();
        List<String> outcomes = new ArrayList<>();
        for (Future<Execution<Receipt>> execution : executions) {
            try {
                Execution<Receipt> done = execution.get(30, TimeUnit.SECONDS);
                assertThat(done.result()).isEqualTo(Receipt.of(4));
                outcomes.add(done.duplicate() ? "duplicate" : "done");
            } catch (ExecutionException ex) {
                outcomes.add(String.valueOf(ex.getCause().getMessage()));
            }
        }
        assertThat(outcomes).containsExactlyInAnyOrder("no", "no", "no", "done", "duplicate", "duplicate");
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void workThatFailsLeavesNothingAndItsExceptionReachesTheCallerAsItIs() {
        for (Throwable failure : List.of(new IllegalStateException("no"), new IOException("no"))) {
            assertThatExceptionOfType(failure.getClass())
                    .isThrownBy(() -> this.operations.execute(id("a"), String.class, () -> {
                        happen("a");
                        throw undeclared(failure);
                    }))
                    .isSameAs(failure);
        }
        assertThrown(DataIntegrityViolationException.class, () -> this.operations.execute(id("a"), () -> happen(null)));
        assertThat(effects()).isEmpty();
        assertThat(this.outcomes.failed).hasValue(3);
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void anExecutionJoinsTheOpenTransactionAndMarksItWhenItFails() {
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(status -> {
                    happen("outer");
                    this.operations.execute(id("good"), () -> happen("good"));
                    assertThatExceptionOfType(IllegalStateException.class)
                            .isThrownBy(() -> this.operations.execute(id("bad"), () -> {
                                throw new IllegalStateException("no");
                            }));
                }));
        assertThat(effects()).isEmpty();
        assertThat(this.outcomes.failed).hasValue(2);
        this.transaction.executeWithoutResult(status -> {
            assertThat(isDuplicate("good")).isFalse();
            assertThat(isDuplicate("good")).isTrue();
        });
    }

    @Test
    void anExecutionThatIsUndoneToASavepointHasFailed() {
        TransactionTemplate nested =
                new TransactionTemplate(new JdbcTransactionManager(this.app.bean(DataSource.class)));
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        IdempotentOperations joining = operationsWith(Duration.ofSeconds(1), nested.getTransactionManager());
        nested.executeWithoutResult(outer -> assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> nested.executeWithoutResult(inner -> joining.execute(id("a"), () -> {
                    throw new IllegalStateException("no");
                }))));
        assertThat(this.outcomes.failed).hasValue(1);
        assertThat(this.outcomes.processed).isEmpty();
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void claimsAreMadeInTheOpenTransaction() {
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.operations.claim(id("a"))).isTrue();
            assertThat(this.operations.claim(id("a"))).isFalse();
            status.setRollbackOnly();
        });
        List<MessageId> all = List.of(id("c"), id("a"), MessageId.of("imports", "a"), id("b"), id("c"));
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.operations.claim(id("b"))).isTrue();
            assertThat(this.operations.claimAll(all)).containsExactly(id("c"), id("a"), MessageId.of("imports", "a"));
            assertThat(this.operations.claimAll(List.of())).isEmpty();
        });
        assertThat(this.outcomes.failed).hasValue(1);
        assertThat(this.outcomes.processed)
                .containsExactlyInAnyOrder(id("b"), id("c"), id("a"), MessageId.of("imports", "a"));
        assertThat(this.outcomes.duplicates).extracting(Duplicate::id).containsExactly(id("b"));
    }

    private void assertUnprotected(Runnable claim, String... messages) {
        assertThatExceptionOfType(UnprotectedCallException.class)
                .isThrownBy(claim::run)
                .satisfies(ex -> assertThat(ex.getMessage()).contains(messages));
    }

    @Test
    void claimsThatWouldNotBePartOfATransactionAreRefused() {
        assertUnprotected(() -> this.operations.claim(id("a")), "no transaction open", "execute(…)");
        assertUnprotected(() -> this.operations.claimAll(List.of()), "no transaction open");
        TransactionTemplate readOnly = new TransactionTemplate(this.transaction.getTransactionManager());
        readOnly.setReadOnly(true);
        readOnly.executeWithoutResult(
                status -> assertUnprotected(() -> this.operations.execute(id("a"), () -> happen("a")), "read-only"));
        DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:other-operations");
        new TransactionTemplate(new JdbcTransactionManager(other)).executeWithoutResult(status -> {
            assertUnprotected(() -> this.operations.claim(id("a")), "not one of the store's DataSource");
            effects();
            assertUnprotected(() -> this.operations.claim(id("a")), "not one of the store's DataSource");
            assertUnprotected(
                    () -> this.operations.execute(id("a"), () -> happen("lost")),
                    "receipts:a",
                    "another DataSource",
                    other.toString(),
                    "NOT_SUPPORTED");
            this.transaction.executeWithoutResult(own -> this.operations.execute(id("own"), () -> happen("own")));
        });
        assertThat(effects()).containsExactly("own");
    }

    @Test
    void aTransactionOfAnotherManagerOfTheDataSourceIsRefusedAndStaysIntact() {
        JdbcTransactionManager manager = new JdbcTransactionManager(this.app.bean(DataSource.class));
        IdempotentOperations ofJdbc = operationsWith(Duration.ofSeconds(1), manager);
        new TransactionTemplate(manager).executeWithoutResult(status -> {
            happen("outer");
            assertUnprotected(() -> this.operations.execute(id("a"), () -> {}), "another transaction manager");
            assertUnprotected(() -> this.operations.claim(id("a")), "another transaction manager");
        });
        this.transaction.executeWithoutResult(status -> {
            happen("undone");
            assertUnprotected(() -> ofJdbc.execute(id("a"), () -> {}), "another transaction manager");
            status.setRollbackOnly();
        });
        assertThat(effects()).containsExactly("outer");
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void aTransactionWithoutAnyDatabaseIsNoObstacleToAnExecution() {
        new TransactionTemplate(new NoDatabaseTransactionManager()).executeWithoutResult(status -> {
            this.operations.execute(id("a"), () -> happen("a"));
            effects();
            this.operations.execute(id("b"), () -> happen("b"));
        });
        assertThat(effects()).containsExactly("a", "b");
    }

    /** As one of Kafka, or of JMS. */
    @SuppressWarnings("serial")
    private static final class NoDatabaseTransactionManager extends AbstractPlatformTransactionManager {

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object opened, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    /** Spring calls a {@code @TransactionalEventListener} so. */
    @Test
    void claimsAfterACommitAreRefused() {
        List<Throwable> refused = new ArrayList<>();
        IdempotentOperations used = this.operations;
        this.transaction.executeWithoutResult(
                status -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                    @Override
                    public void afterCompletion(int completion) {
                        refused.add(catchThrowable(() -> used.execute(id("a"), () -> happen("a"))));
                        refused.add(catchThrowable(() -> used.claim(id("a"))));
                    }
                }));
        assertThat(refused).hasSize(2).allSatisfy(failure -> assertThat(failure)
                .isInstanceOf(UnprotectedCallException.class)
                .hasMessageContainingAll("has ended", "REQUIRES_NEW"));
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void ofIdsOfWhichOneIsHeldElsewhereNoneStaysClaimed() {
        List<List<MessageId>> chunks = List.of(
                List.of(id("a"), id("b"), id("held")), List.of(MessageId.of("imports", "a"), id("a"), id("held")));
        for (List<MessageId> chunk : chunks) {
            whileHeld(id("held"), () -> assertThatExceptionOfType(RuntimeException.class)
                    .isThrownBy(() -> this.transaction.executeWithoutResult(
                            // As one does who leaves out a chunk, and commits what he has.
                            status -> assertThatExceptionOfType(ClaimTimeoutException.class)
                                    .isThrownBy(() -> this.operations.claimAll(chunk)))));
            this.transaction.executeWithoutResult(
                    status -> assertThat(this.operations.claimAll(chunk)).hasSize(3));
            empty();
        }
    }

    @Test
    void theTimeOfAClaimIsThatOfAllItsIds() {
        // So many that the last one is held for long enough, however late the claim begins.
        List<MessageId> ids =
                Stream.of("a", "b", "c", "d", "e", "f").map(OperationsIT::id).toList();
        CountDownLatch claimed = new CountDownLatch(ids.size());
        CountDownLatch end = new CountDownLatch(1);
        List<Future<?>> holders = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            int number = i;
            holders.add(this.threads.submit(() -> this.transaction.execute(status -> {
                this.operations.claim(ids.get(number));
                claimed.countDown();
                await(claimed);
                status.setRollbackOnly();
                try {
                    return end.await(800L * (number + 1), TimeUnit.MILLISECONDS);
                } catch (InterruptedException ex) {
                    throw new IllegalStateException(ex);
                }
            })));
        }
        await(claimed);
        assertThrown(
                ClaimTimeoutException.class,
                () -> this.transaction.executeWithoutResult(status -> this.operations.claimAll(ids)));
        end.countDown();
        holders.forEach(OperationsIT::join);
    }

    @Test
    void anExecutionWithinOneSharesItsTransactionAndNotItsContext() {
        MessageId inner = MessageId.of("imports", "inner");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), () -> {
                    assertThat(isDuplicate("a")).isTrue();
                    this.operations.execute(
                            inner, () -> assertThat(IdempotencyContext.current().messageId())
                                    .isEqualTo(inner));
                    assertThat(IdempotencyContext.current().messageId()).isEqualTo(id("a"));
                    throw new IllegalStateException("no");
                }));
        assertThat(this.operations.execute(inner, () -> {}).duplicate()).isFalse();
        assertThrown(
                ResultForgottenException.class,
                () -> this.operations.execute(id("b"), String.class, () -> this.operations
                        .execute(id("b"), String.class, () -> "inner")
                        .result()),
                "still at work");
        TransactionTemplate own = new TransactionTemplate(this.transaction.getTransactionManager());
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        assertThrown(
                ClaimTimeoutException.class,
                () -> this.operations.execute(id("b"), () -> own.executeWithoutResult(status -> isDuplicate("b"))));
    }

    @Test
    void theContextLastsUntilTheEndOfTheTransactionThatWasOpenedForIt() {
        List<String> sent = new ArrayList<>();
        Runnable work =
                () -> HasEffects.beforeCommit(() -> sent.add(IdempotencyContextHolder.nextRecordId("topic", List::of)));
        this.operations.execute(id("a"), work);
        this.jdbc.update("delete from idempotency_processed");
        this.operations.execute(id("a"), work);
        assertThat(sent).hasSize(2).doesNotContainNull();
        assertThat(sent.get(0)).isEqualTo(sent.get(1));
        assertThat(IdempotencyContextHolder.nextRecordId("topic", List::of)).isNull();
    }

    @Test
    void whatIsNoIdIsRefused() {
        assertThrown(
                IdempotencyConfigurationException.class,
                () -> this.operations.execute(new MessageId("unheard-of", "a"), () -> happen("a")),
                "[imports, receipts]",
                "IdempotentConsumer.named(\"unheard-of\")");
        assertThrown(
                IdempotencyConfigurationException.class,
                () -> this.transaction.executeWithoutResult(
                        status -> this.operations.claim(new MessageId("unheard-of", "a"))));
        assertThrown(
                IllegalArgumentException.class,
                () -> this.operations.execute(null, () -> happen("a")),
                "There is no id");
        assertThrown(
                IllegalArgumentException.class,
                () -> this.operations.claimAll(Arrays.asList(id("a"), null)),
                "There is no id");
        assertThat(effects()).isEmpty();
    }

    private <T extends @Nullable Object> T twice(String key, Class<T> type, T result) {
        return twice(key, ParameterizedTypeReference.forType(type), result);
    }

    private <T extends @Nullable Object> T twice(String key, ParameterizedTypeReference<T> type, T result) {
        T first = this.operations.execute(id(key), type, () -> result).result();
        T again = this.operations
                .execute(id(key), type, () -> {
                    throw new IllegalStateException("done twice");
                })
                .result();
        assertThat(again).usingRecursiveComparison().isEqualTo(first);
        return again;
    }

    @Test
    void resultsOfAnyKindAreGivenAgainToDuplicates() {
        assertThat(twice("receipt", Receipt.class, Receipt.of(1))).isEqualTo(Receipt.of(1));
        assertThat(twice("nothing", Receipt.class, null)).isNull();
        assertThat(twice("int", int.class, 7)).isEqualTo(7);
        assertThat(twice("void", Void.class, null)).isNull();
        assertThat(twice("array", byte[].class, new byte[] {0, -1})).containsExactly(0, -1);
        assertThat(twice("empty", String.class, "")).isEmpty();
        OffsetDateTime time = OffsetDateTime.parse("2026-01-01T00:00:00+02:00");
        assertThat(twice("time", OffsetDateTime.class, time)).hasToString(time.toString());
        Set<String> elements =
                IntStream.range(0, 100).mapToObj(i -> "element " + i).collect(Collectors.toUnmodifiableSet());
        assertThat(twice("unordered", new ParameterizedTypeReference<>() {}, elements))
                .isEqualTo(elements);
        Optional<Map<String, List<Receipt>>> nested = Optional.of(Map.of("k", List.of(Receipt.of(1))));
        assertThat(twice("nested", new ParameterizedTypeReference<>() {}, nested))
                .isEqualTo(nested);
    }

    static class ReadOnly {

        @JsonProperty(access = JsonProperty.Access.READ_ONLY)
        public String id = UUID.randomUUID().toString();
    }

    @Test
    void resultsThatCannotBeKeptUndoTheWork() {
        refuseToKeep(ReadOnly.class, ReadOnly::new, "/id ");
        refuseToKeep(Runnable.class, () -> () -> {}, "");
        refuseToKeep(String.class, () -> "x".repeat(MAX_SIZE), (MAX_SIZE + 2) + " characters");
        assertThat(effects()).isEmpty();
        assertThat(isDuplicate("a")).isFalse();
    }

    private <T> void refuseToKeep(Class<T> type, Supplier<? extends T> result, String why) {
        assertThatExceptionOfType(ResultException.class)
                .as(type.getName())
                .isThrownBy(() -> this.operations.execute(id("a"), type, () -> {
                    happen(type.getName());
                    return result.get();
                }))
                .withMessageContaining(type.getName())
                .withMessageContaining(why);
    }

    @Test
    <T> void typesThatNothingCanBeReadAsAreRefusedBeforeTheWork() {
        refuse(new ParameterizedTypeReference<CompletableFuture<String>>() {}, "completed later");
        refuse(new ParameterizedTypeReference<List<Future<String>>>() {}, "completed later");
        refuse(new ParameterizedTypeReference<Flow.Publisher<String>[]>() {}, "completed later");
        refuse(ParameterizedTypeReference.forType(ForkJoinTask.class), "completed later");
        refuse(new ParameterizedTypeReference<List<T>>() {}, "java.util.List<T>");
        for (Class<?> type : List.of(Object.class, List.class, Optional.class, Map.class, List[].class)) {
            refuse(ParameterizedTypeReference.forType(type), "ParameterizedTypeReference");
        }
    }

    private <T> void refuse(ParameterizedTypeReference<T> type, String why) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> this.operations.execute(id("a"), type, () -> {
                    throw new IllegalStateException("called");
                }))
                .withMessageContaining(type.getType().getTypeName())
                .withMessageContaining(why);
    }

    record Before(String name, @Nullable String note) {}

    /** The same class, had it been changed: a part has another name. */
    record After(String title, @Nullable String note) {}

    /** The same class, had it been changed: it has one part more. */
    record Grown(
            String name, @Nullable String note, @Nullable List<String> more) {}

    @Test
    void aResultThatCannotBeGivenAgainIsAnErrorAndNoSecondRun() {
        this.operations.execute(id("a"), Before.class, () -> new Before("name", null));
        refuseToGive(After.class, Before.class.getName(), After.class.getName());
        pretendToBe(After.class);
        refuseToGive(After.class, "can no longer be read", "name");
        pretendToBe(Grown.class);
        assertThat(this.operations.execute(id("a"), Grown.class, () -> null).result())
                .isEqualTo(new Grown("name", null, null));
        this.jdbc.update("update idempotency_result set result = '{\"more\": 1}'");
        refuseToGive(Grown.class, "can no longer be read");
        this.jdbc.update("delete from idempotency_result");
        assertThrown(
                ResultForgottenException.class,
                () -> this.operations.execute(id("a"), Before.class, () -> new Before("twice", null)),
                "has been done before");
    }

    private void pretendToBe(Class<?> type) {
        this.jdbc.update("update idempotency_result set result_type = ?", type.getName());
    }

    private void refuseToGive(Class<?> type, String... messages) {
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), type, () -> {
                    throw new IllegalStateException("done twice");
                }))
                .withMessageContainingAll(messages);
    }

    @Test
    void theResultOfAnEarlierClaimIsNotGivenToDuplicatesOfALaterOne() {
        this.operations.execute(id("a"), String.class, () -> "first");
        this.operations.execute(id("b"), String.class, () -> "first");
        this.jdbc.update("delete from idempotency_processed");
        this.transaction.executeWithoutResult(status -> {
            this.jdbc.queryForList("select * from idempotency_result");
            elsewhere(() -> {
                this.operations.execute(id("a"), String.class, () -> "second");
                this.operations.execute(id("b"), () -> {});
                this.operations.execute(id("c"), String.class, () -> "theirs");
            });
            assertThat(this.operations
                            .execute(id("a"), String.class, () -> "third")
                            .result())
                    .isEqualTo("second");
            assertThat(this.operations
                            .execute(id("c"), String.class, () -> "mine")
                            .result())
                    .isEqualTo("theirs");
            status.setRollbackOnly();
        });
        assertThrown(
                ResultForgottenException.class, () -> this.operations.execute(id("b"), String.class, () -> "third"));
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        assertThat(twice("a", Integer.class, 2)).isEqualTo(2);
    }

    @Test
    void idsAndResultsAreForgottenAfterTheirOwnTimes() {
        // Never as far apart as a result's retention: a pause would be passed over.
        for (int half = 0; half <= 80; half++) {
            String key = "half-" + half;
            this.operations.execute(id(key), String.class, () -> key);
            age("idempotency_processed", key, half / 2.0);
            age("idempotency_result", key, half / 2.0);
        }
        assertThat(this.app.bean(Cleanup.class).run().failure()).isNull();
        assertThat(isDuplicate("half-80")).isFalse();
        assertThat(this.operations
                        .execute(id("half-0"), String.class, () -> "again")
                        .result())
                .isEqualTo("half-0");
        assertThrown(
                ResultForgottenException.class,
                () -> this.operations.execute(id("half-40"), String.class, () -> "again"));
    }

    @Test
    void aStepIsNotRepeatedThoughTheWorkIs() {
        List<String> keys = new ArrayList<>();
        Supplier<Receipt> work = () -> {
            Receipt receipt = IdempotencyContext.current().step("charge", Receipt.class, key -> {
                keys.add(key);
                return Receipt.of(keys.size());
            });
            IdempotencyContext.current().stepAtMostOnce("mail", () -> keys.add("mail"));
            happen("charged");
            return receipt;
        };
        assertThatExceptionOfType(DataIntegrityViolationException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), () -> {
                    work.get();
                    happen(null);
                }));
        Execution<Receipt> second = this.operations.execute(id("a"), Receipt.class, work);
        assertThat(second.duplicate()).isFalse();
        assertThat(second.result()).isEqualTo(Receipt.of(1));
        assertThat(effects()).containsExactly("charged");
        assertThat(keys).hasSize(2).endsWith("mail");
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        this.operations.execute(id("a"), Receipt.class, work);
        assertThat(keys).hasSize(4).element(2).isEqualTo(keys.get(0));
    }

    @Test
    void aStepOfUnknownOutcomeIsNotCalledUntilItIsSettled() {
        List<String> calls = new ArrayList<>();
        Runnable work = () -> IdempotencyContext.current().stepAtMostOnce("mail", () -> {
            calls.add("mail");
            if (calls.size() == 1) {
                throw new IllegalStateException("no answer");
            }
        });
        for (String cause : Arrays.asList("no answer", null)) {
            assertThatExceptionOfType(UnknownOutcomeException.class)
                    .isThrownBy(() -> this.operations.execute(id("a"), work))
                    .satisfies(ex -> assertThat(
                                    (ex.getCause() != null) ? ex.getCause().getMessage() : null)
                            .isEqualTo(cause));
        }
        assertThat(calls).hasSize(1);
        Steps steps = this.app.bean(Steps.class);
        assertThat(steps.find(id("a"))).extracting(Steps.Step::isDone).containsExactly(false);
        assertThat(steps.settle(id("a"), "other", false)).isFalse();
        assertThat(steps.settle(id("a"), "mail", false)).isTrue();
        this.operations.execute(id("a"), work);
        assertThat(calls).hasSize(2);
        assertThat(steps.settle(id("a"), "mail", false)).as("when it is done").isFalse();
        assertThat(steps.find(id("a"))).extracting(Steps.Step::isDone).containsExactly(true);
    }

    @Test
    void stepsAreForgottenAfterTheTimeOfTheirMessagesUnlessTheirOutcomeIsUnknown() {
        for (int day = 0; day <= 40; day += 10) {
            String key = "day-" + day;
            this.operations.execute(id(key), () -> IdempotencyContext.current().stepAtMostOnce("mail", () -> {}));
            age("idempotency_processed", key, day);
            age("idempotency_step", key, day);
        }
        this.jdbc.update("insert into idempotency_step (consumer_id, message_id, step_name, status)"
                + " values ('receipts', 'day-40', 'late', 'done')");
        this.jdbc.update("insert into idempotency_step (consumer_id, message_id, step_name, status)"
                + " values ('receipts', 'unknown', 'mail', 'started')");
        age("idempotency_step", "unknown", 40);
        assertThat(this.app.bean(Cleanup.class).run().failure()).isNull();
        assertThat(this.jdbc.queryForList("select message_id from idempotency_step order by message_id", String.class))
                .containsExactly("day-0", "day-10", "day-20", "day-30", "day-40", "unknown");
        assertThat(this.app.bean(Steps.class).find(id("day-40")))
                .extracting(Steps.Step::name)
                .containsExactly("late");
    }

    @Test
    void resultsOfAConsumerElsewhereAreKeptAsLongAsItClaims() {
        this.operations.execute(id("theirs"), String.class, () -> "kept");
        isDuplicate("their-last");
        age("idempotency_processed", "theirs", 40);
        age("idempotency_result", "theirs", 40);
        this.jdbc.update("update idempotency_processed set consumer_id = 'elsewhere'");
        this.jdbc.update("update idempotency_result set consumer_id = 'elsewhere'");
        for (int kept = 1; kept >= 0; kept--) {
            assertThat(this.app.bean(Cleanup.class).run().failure()).isNull();
            assertThat(this.jdbc.queryForObject("select count(*) from idempotency_result", Integer.class))
                    .isEqualTo(kept);
            this.jdbc.update("delete from idempotency_processed");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aConcurrentDuplicateIsFoundAtEveryIsolation(String isolation) throws Exception {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        isolate(isolation);
        try {
            IdempotentOperations patient = operationsWith(Duration.ofSeconds(30), null);
            CountDownLatch claimed = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<?> first = this.threads.submit(() -> patient.execute(id("a"), String.class, () -> {
                claimed.countDown();
                await(end);
                return "first";
            }));
            await(claimed);
            Future<Execution<String>> second =
                    this.threads.submit(() -> patient.execute(id("a"), String.class, () -> "second"));
            awaitWaiting(1);
            end.countDown();
            join(first);
            assertThat(second.get(30, TimeUnit.SECONDS).result()).isEqualTo("first");
        } finally {
            isolate("read committed");
        }
    }

    /** Has the connections of the pool begin transactions so. */
    private void isolate(String isolation) {
        this.jdbc.execute("alter database \"%s\" set default_transaction_isolation = '%s'"
                .formatted(this.jdbc.queryForObject("select current_database()", String.class), isolation));
        // One that was being opened meanwhile may have the old one.
        Awaitility.await(isolation).until(() -> {
            this.app.bean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
            return isolation.equals(this.jdbc.queryForObject("show transaction_isolation", String.class));
        });
    }

    @Test
    void aTransactionWhoseIsolationHidesADuplicateIsToldSo() {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
        isolated.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        assertThatExceptionOfType(StoreFailedException.class)
                .isThrownBy(() -> isolated.executeWithoutResult(status -> {
                    effects();
                    elsewhere(() -> isDuplicate("a"));
                    this.operations.execute(id("a"), () -> {});
                }))
                .withMessageContaining("REPEATABLE READ")
                .withMessageContaining("READ COMMITTED")
                .withMessageNotContaining("tables");
    }

    @Test
    void aTransactionThatTheDatabaseHasGivenUpIsNoSuccess() {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        assertThrown(
                TransactionLostException.class,
                () -> this.operations.execute(id("a"), this::failAndCatch),
                "receipts:a");
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), String.class, () -> {
                    failAndCatch();
                    return "done";
                }));
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(status -> {
                    this.operations.claim(id("a"));
                    failAndCatch();
                }));
        assertThat(this.operations.execute(id("a"), () -> {}).duplicate()).isFalse();
    }

    private void failAndCatch() {
        happen("before");
        try {
            happen(null);
        } catch (DataIntegrityViolationException ex) {
            // As some do.
        }
    }
}
