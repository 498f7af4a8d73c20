package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DuplicateKind;
import dev.idempotency.Execution;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.ResultException;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.UnknownConsumerException;
import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.app.TestApplication;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.result.KeptResults;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
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
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractOperationsIT {

    private static final int MAX_SIZE = 2000;

    private TestApplication app;
    private IdempotentOperations operations;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;
    private ExecutorService threads;

    /** The URL of an empty database. */
    abstract String jdbcUrl();

    /** More that the application is made of. */
    Class<?>[] classes() {
        return new Class<?>[] {Consumers.class};
    }

    record Receipt(
            long number,
            BigDecimal amount,
            Instant at,
            String text,
            @Nullable String nothing) {}

    record Renamed(long number, BigDecimal amount, Instant at, String text) {}

    @Configuration(proxyBeanMethods = false)
    @Import({TestApplication.WithJpa.class, SimpleMeterRegistry.class})
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

        @Bean
        Heard heard() {
            return new Heard();
        }
    }

    static class Heard implements IdempotencyObserver {

        final List<String> news = new CopyOnWriteArrayList<>();
        final List<Duplicate> duplicates = new CopyOnWriteArrayList<>();

        @Override
        public ConsumerObserver observe(ConsumerDescription consumer) {
            return new ConsumerObserver() {

                @Override
                public void processed(MessageId id, dev.idempotency.RecordCoordinates coordinates) {
                    Heard.this.news.add("processed " + id);
                }

                @Override
                public void duplicate(Duplicate duplicate) {
                    Heard.this.news.add("duplicate " + duplicate.id());
                    Heard.this.duplicates.add(duplicate);
                }

                @Override
                public void failed(int messages) {
                    Heard.this.news.add("failed " + messages);
                }
            };
        }
    }

    @BeforeAll
    void start() {
        this.app = TestApplication.start(
                jdbcUrl(),
                List.of(
                        "spring.kafka.bootstrap-servers=localhost:1",
                        "idempotency.claim.timeout=1s",
                        "idempotency.results.max-size=" + MAX_SIZE + "B",
                        "idempotency.cleanup.interval=-",
                        "management.endpoints.jmx.exposure.include=*",
                        "spring.jmx.enabled=true"),
                classes());
        this.operations = this.app.bean(IdempotentOperations.class);
        this.jdbc = this.app.jdbc();
        this.transaction = new TransactionTemplate(this.app.bean(PlatformTransactionManager.class));
        this.threads = Executors.newCachedThreadPool();
        this.jdbc.execute("create table effect (name varchar(100) not null)");
    }

    @AfterAll
    void stop() {
        if (this.app != null) {
            this.threads.shutdownNow();
            this.app.close();
        }
    }

    @BeforeEach
    void empty() {
        this.jdbc.update("delete from idempotency_processed");
        this.jdbc.update("delete from idempotency_result");
        this.jdbc.update("delete from effect");
        this.app.bean(Heard.class).news.clear();
    }

    final TestApplication app() {
        return this.app;
    }

    final ExecutorService threads() {
        return this.threads;
    }

    final IdempotentOperations operations() {
        return this.operations;
    }

    final JdbcTemplate jdbc() {
        return this.jdbc;
    }

    final TransactionTemplate transaction() {
        return this.transaction;
    }

    static MessageId id(String key) {
        return MessageId.of("receipts", key);
    }

    final void happen(String name) {
        this.jdbc.update("insert into effect (name) values (?)", name);
    }

    final List<String> effects() {
        return this.jdbc.queryForList("select name from effect order by name", String.class);
    }

    final List<String> heard() {
        return this.app.bean(Heard.class).news;
    }

    private Receipt book(String name) {
        happen(name);
        return new Receipt(
                effects().size(),
                new BigDecimal("10.00"),
                Instant.parse("2026-01-01T00:00:00.123456Z"),
                "grün €\u0000\uD83D\uDE00",
                null);
    }

    @Test
    void workIsDoneOnceAndADuplicateDoesNone() {
        assertThat(this.operations.execute(id("a"), () -> happen("a")).isDuplicate())
                .isFalse();
        Execution<?> second = this.operations.execute(id("a"), () -> happen("a"));
        assertThat(second.isDuplicate()).isTrue();
        assertThat(second.result()).isNull();
        assertThat(effects()).containsExactly("a");
        assertThat(this.jdbc.queryForObject("select count(*) from idempotency_result", Integer.class))
                .isZero();
        assertThat(heard()).containsExactly("processed receipts:a", "duplicate receipts:a");
        assertThat(this.app.bean(Heard.class).duplicates).last().satisfies(duplicate -> {
            assertThat(duplicate.kind()).isEqualTo(DuplicateKind.REPUBLICATION);
            assertThat(duplicate.age()).isNotNull();
        });
    }

    @Test
    void aResultIsGivenAgainToDuplicatesAndIsTheSame() {
        Execution<Receipt> first = this.operations.execute(id("a"), Receipt.class, () -> book("a"));
        Execution<Receipt> second = this.operations.execute(id("a"), Receipt.class, () -> book("a"));
        assertThat(first.isDuplicate()).isFalse();
        assertThat(second.isDuplicate()).isTrue();
        assertThat(first.result())
                .isEqualTo(new Receipt(
                        1,
                        new BigDecimal("10.00"),
                        Instant.parse("2026-01-01T00:00:00.123456Z"),
                        "grün €\u0000\uD83D\uDE00",
                        null));
        assertThat(second.result()).isEqualTo(first.result());
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void aResultMayBeNoneOrOfAGenericType() {
        assertThat(this.operations
                        .execute(id("none"), Receipt.class, () -> null)
                        .result())
                .isNull();
        Execution<Receipt> again = this.operations.execute(id("none"), Receipt.class, () -> book("none"));
        assertThat(again.isDuplicate()).isTrue();
        assertThat(again.result()).isNull();
        ParameterizedTypeReference<List<Receipt>> list = new ParameterizedTypeReference<>() {};
        this.operations.execute(id("list"), list, () -> List.of(book("list")));
        assertThat(this.operations.execute(id("list"), list, List::of).result())
                .singleElement()
                .isInstanceOf(Receipt.class);
    }

    @Test
    void ofManyAtOnceOneDoesTheWorkAndAllGetItsResult() throws Exception {
        patiently(this::executeManyAtOnce);
    }

    /** Uses operations whose claims wait for longer than those of the other tests. */
    final void patiently(ThrowingConsumer<IdempotentOperations> action) throws Exception {
        action.accept(new TransactionalOperations(
                new JdbcProcessedMessageStore(this.app.bean(IdempotencyDatabase.class), Duration.ofSeconds(30)),
                this.app.bean(DeclaredConsumers.class),
                this.app.bean(KeptResults.class),
                this.app.context().getBeanFactory()));
    }

    /** Selects how many transactions wait for another one. */
    abstract String waiting();

    final void awaitWaiting(int transactions) {
        Awaitility.await(transactions + " waiting transactions")
                .until(() -> this.jdbc.queryForObject(waiting(), Integer.class) == transactions);
    }

    @Test
    void waitersGoOnWhenTheFirstOnesFail() throws Exception {
        patiently(operations -> {
            AtomicInteger calls = new AtomicInteger();
            CountDownLatch claimed = new CountDownLatch(1);
            CountDownLatch fail = new CountDownLatch(1);
            Callable<Boolean> call = () -> operations
                    .execute(id("a"), String.class, () -> {
                        claimed.countDown();
                        try {
                            fail.await();
                        } catch (InterruptedException ex) {
                            throw new IllegalStateException(ex);
                        }
                        if (calls.incrementAndGet() <= 3) {
                            throw new IllegalStateException("no");
                        }
                        happen("a");
                        return "done";
                    })
                    .isDuplicate();
            List<Future<Boolean>> executions = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                executions.add(this.threads.submit(call));
            }
            try {
                claimed.await();
                awaitWaiting(5);
            } finally {
                fail.countDown();
            }
            List<String> outcomes = new ArrayList<>();
            for (Future<Boolean> execution : executions) {
                try {
                    outcomes.add(execution.get(30, TimeUnit.SECONDS) ? "duplicate" : "done");
                } catch (ExecutionException ex) {
                    outcomes.add(String.valueOf(ex.getCause().getMessage()));
                }
            }
            assertThat(outcomes).containsExactlyInAnyOrder("no", "no", "no", "done", "duplicate", "duplicate");
            assertThat(effects()).containsExactly("a");
        });
    }

    private void executeManyAtOnce(IdempotentOperations operations) throws Exception {
        for (int round = 0; round < 5; round++) {
            String key = "parallel-" + round;
            CountDownLatch start = new CountDownLatch(1);
            List<Future<Execution<Receipt>>> executions = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Callable<Execution<Receipt>> call = () -> {
                    start.await();
                    return operations.execute(id(key), Receipt.class, () -> book(key));
                };
                executions.add(this.threads.submit(call));
            }
            start.countDown();
            Set<Receipt> results = new HashSet<>();
            int first = 0;
            for (Future<Execution<Receipt>> execution : executions) {
                Execution<Receipt> done = execution.get(30, TimeUnit.SECONDS);
                results.add(done.result());
                first += done.isDuplicate() ? 0 : 1;
            }
            assertThat(first).isOne();
            assertThat(results).hasSize(1);
            assertThat(effects()).filteredOn(key::equals).hasSize(1);
        }
    }

    @Test
    void workThatFailsLeavesNothingAndIsDoneWhenItIsAskedForAgain() {
        IllegalStateException failure = new IllegalStateException("no");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Receipt.class, () -> {
                    happen("a");
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(effects()).isEmpty();
        assertThat(heard()).containsExactly("failed 1");
        assertThat(this.operations
                        .execute(id("a"), Receipt.class, () -> book("a"))
                        .isDuplicate())
                .isFalse();
    }

    @Test
    void anExecutionJoinsTheTransactionThatIsOpenAndMarksItWhenItFails() {
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(status -> {
                    happen("outer");
                    this.operations.execute(id("good"), () -> happen("good"));
                    try {
                        this.operations.execute(id("bad"), () -> {
                            throw new IllegalStateException("no");
                        });
                    } catch (IllegalStateException ex) {
                        // As some do.
                    }
                }));
        assertThat(effects()).isEmpty();
        assertThat(heard()).containsExactly("failed 1", "failed 1");
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.operations.execute(id("good"), () -> {}).isDuplicate())
                    .isFalse();
            assertThat(this.operations.execute(id("good"), () -> {}).isDuplicate())
                    .isTrue();
        });
    }

    @Test
    void claimsAreMadeInTheTransactionThatIsOpenAndInNoOther() {
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
        assertThat(heard())
                .startsWith("failed 1")
                .contains("processed imports:a", "processed receipts:c", "duplicate receipts:b");
        assertThatExceptionOfType(UnprotectedClaimException.class)
                .isThrownBy(() -> this.operations.claim(id("d")))
                .withMessageContaining("no transaction open")
                .withMessageContaining("execute(…)");
        assertThatExceptionOfType(UnprotectedClaimException.class)
                .isThrownBy(() -> this.operations.claimAll(List.of()));
    }

    @Test
    void aTransactionOfAnotherDataSourceOrOneThatIsReadOnlyIsRefused() {
        DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:other-operations");
        new TransactionTemplate(new JdbcTransactionManager(other)).executeWithoutResult(status -> {
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> this.operations.claim(id("a")))
                    .withMessageContaining("not one of the store's DataSource");
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> {
                        effects();
                        this.operations.claim(id("a"));
                    })
                    .withMessageContaining("not one of the store's DataSource");
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> this.operations.execute(id("a"), () -> happen("lost")))
                    .withMessageContaining("receipts:a")
                    .withMessageContaining("another DataSource")
                    .withMessageContaining(other.toString())
                    .withMessageContaining("NOT_SUPPORTED")
                    .withMessageContaining("REQUIRES_NEW");
            TransactionTemplate own = new TransactionTemplate(this.transaction.getTransactionManager());
            own.executeWithoutResult(mine -> this.operations.execute(id("own"), () -> happen("own")));
            assertThat(status.isRollbackOnly()).isFalse();
        });
        assertThat(effects()).containsExactly("own");
        TransactionTemplate readOnly = new TransactionTemplate(this.transaction.getTransactionManager());
        readOnly.setReadOnly(true);
        assertThatExceptionOfType(UnprotectedClaimException.class)
                .isThrownBy(() ->
                        readOnly.executeWithoutResult(status -> this.operations.execute(id("a"), () -> happen("a"))))
                .withMessageContaining("read-only");
        assertThat(effects()).containsExactly("own");
    }

    @Test
    void aTransactionWithoutAnyDatabaseIsNoObstacleToAnExecution() {
        DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:other-operations");
        new TransactionTemplate(new NoDatabaseTransactionManager()).executeWithoutResult(status -> {
            new JdbcTemplate(other).queryForObject("select 1", Integer.class);
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

    @Test
    void aCheckedExceptionOfTheWorkReachesTheCallerAsItIs() {
        IOException failure = new IOException("no");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Receipt.class, () -> {
                    happen("a");
                    throw AbstractOperationsIT.<RuntimeException>unchecked(failure);
                }))
                .isSameAs(failure);
        UndeclaredThrowableException own = new UndeclaredThrowableException(failure);
        assertThatExceptionOfType(UndeclaredThrowableException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), () -> {
                    throw own;
                }))
                .isSameAs(own);
        assertThat(effects()).isEmpty();
        assertThat(this.operations.execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    /** As Kotlin does it, or Lombok's {@code @SneakyThrows}. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void ofIdsOfWhichOneIsHeldElsewhereNoneStaysClaimed() throws Exception {
        List<List<MessageId>> chunks = List.of(
                List.of(id("a"), id("b"), id("held")), List.of(MessageId.of("imports", "a"), id("a"), id("held")));
        for (List<MessageId> chunk : chunks) {
            whileHeld(id("held"), () -> {
                AtomicReference<ClaimTimeoutException> refused = new AtomicReference<>();
                try {
                    this.transaction.executeWithoutResult(status -> {
                        try {
                            this.operations.claimAll(chunk);
                        } catch (ClaimTimeoutException ex) {
                            // As one does who leaves out a chunk, and commits what he has.
                            refused.set(ex);
                        }
                    });
                } catch (RuntimeException ex) {
                    // It may be refused.
                }
                assertThat(refused.get()).isNotNull();
            });
            for (MessageId id : chunk.subList(0, 2)) {
                assertThat(this.operations.execute(id, () -> {}).isDuplicate())
                        .as("%s of %s", id, chunk)
                        .isFalse();
            }
            this.jdbc.update("delete from idempotency_processed");
        }
    }

    @Test
    void aTransactionIsNotLostWithIdsThatWereHeldElsewhereIfTheyWereClaimedBehindASavepoint() throws Exception {
        JdbcTransactionManager manager = new JdbcTransactionManager(this.app.bean(javax.sql.DataSource.class));
        TransactionTemplate inner = new TransactionTemplate(manager);
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        whileHeld(id("held"), () -> new TransactionTemplate(manager).executeWithoutResult(status -> {
            assertThat(this.operations.claim(id("stays"))).isTrue();
            assertThatExceptionOfType(ClaimTimeoutException.class)
                    .isThrownBy(() -> inner.executeWithoutResult(
                            savepoint -> this.operations.claimAll(List.of(id("goes"), id("held")))));
        }));
        assertThat(this.operations.execute(id("stays"), () -> {}).isDuplicate()).isTrue();
        assertThat(this.operations.execute(id("goes"), () -> {}).isDuplicate()).isFalse();
    }

    final void whileHeld(MessageId id, Runnable action) throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Future<?> holder = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.operations.claim(id);
            claimed.countDown();
            try {
                end.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
            status.setRollbackOnly();
        }));
        assertThat(claimed.await(30, TimeUnit.SECONDS)).isTrue();
        try {
            action.run();
        } finally {
            end.countDown();
            holder.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aClaimThatIsUndoneWithASavepointIsNeitherMissedNorCounted() {
        TransactionTemplate nested =
                new TransactionTemplate(new JdbcTransactionManager(this.app.bean(javax.sql.DataSource.class)));
        TransactionTemplate inner = new TransactionTemplate(nested.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        nested.executeWithoutResult(status -> {
            assertThat(this.operations.claim(id("stays"))).isTrue();
            inner.executeWithoutResult(savepoint -> {
                assertThat(this.operations.claim(id("goes"))).isTrue();
                savepoint.setRollbackOnly();
            });
            happen("outer");
        });
        assertThat(effects()).containsExactly("outer");
        assertThat(heard()).containsExactly("processed receipts:stays", "failed 1");
        assertThat(this.operations.execute(id("goes"), () -> {}).isDuplicate()).isFalse();
        assertThat(this.operations.execute(id("stays"), () -> {}).isDuplicate()).isTrue();
    }

    @Test
    void aDuplicateThatWaitsTooLongIsTold() throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Future<?> first = this.threads.submit(() -> this.operations.execute(id("slow"), () -> {
            claimed.countDown();
            try {
                end.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }));
        claimed.await();
        assertThatExceptionOfType(ClaimTimeoutException.class)
                .isThrownBy(() -> this.operations.execute(id("slow"), () -> happen("twice")));
        end.countDown();
        first.get(30, TimeUnit.SECONDS);
        assertThat(this.operations.execute(id("slow"), () -> happen("twice")).isDuplicate())
                .isTrue();
        assertThat(effects()).isEmpty();
    }

    @Test
    void whatIsNoIdIsRefused() {
        assertThatExceptionOfType(UnknownConsumerException.class)
                .isThrownBy(() -> this.operations.execute(new MessageId("unheard-of", "a"), () -> happen("a")))
                .withMessageContaining("'unheard-of'")
                .withMessageContaining("[imports, receipts]")
                .withMessageContaining("IdempotentConsumer.named(\"unheard-of\")");
        assertThatExceptionOfType(UnknownConsumerException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(
                        status -> this.operations.claim(new MessageId("unheard-of", "a"))));
        for (String key : new String[] {null, "", " \t", "null"}) {
            assertThatExceptionOfType(MissingMessageKeyException.class)
                    .isThrownBy(() -> id(key))
                    .withMessageContaining("consumer 'receipts'");
        }
        for (String key : new String[] {null, "", " \t"}) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> new MessageId("receipts", key))
                    .withMessageContaining("The message id must have 1 to 255 characters");
        }
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> new MessageId(null, "a"))
                .withMessageContaining("The consumer must have 1 to 200 characters");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> IdempotentConsumer.named(null))
                .withMessageContaining("The name of an IdempotentConsumer must have");
        assertThatExceptionOfType(InvalidMessageKeyException.class).isThrownBy(() -> id("a\0b"));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> this.operations.execute(null, () -> happen("a")))
                .withMessageContaining("There is no id");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> this.operations.claim(null))
                .withMessageContaining("There is no id");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(
                        status -> this.operations.claimAll(Arrays.asList(id("a"), null))))
                .withMessageContaining("index 1");
        assertThat(effects()).isEmpty();
    }

    @Test
    void longKeysAreToldApart() {
        String beginning = "k".repeat(300);
        assertThat(this.operations.execute(id(beginning + "1"), () -> {}).isDuplicate())
                .isFalse();
        assertThat(this.operations.execute(id(beginning + "2"), () -> {}).isDuplicate())
                .isFalse();
        assertThat(this.operations.execute(id(beginning + "1"), () -> {}).isDuplicate())
                .isTrue();
        String digest = id(beginning + "1").value();
        assertThat(this.operations.execute(id(digest), () -> {}).isDuplicate())
                .as("a key that looks like a digest")
                .isFalse();
    }

    @Test
    void aResultThatCannotBeKeptUndoesTheWork() {
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), String.class, () -> {
                    happen("a");
                    return "x".repeat(MAX_SIZE);
                }))
                .withMessageContaining((MAX_SIZE + 2) + " characters")
                .withMessageContaining("idempotency.results.max-size");
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Runnable.class, () -> {
                    happen("a");
                    return () -> {};
                }))
                .withMessageContaining("java.lang.Runnable");
        assertThat(effects()).isEmpty();
        assertThat(this.operations
                        .execute(id("a"), Receipt.class, () -> book("a"))
                        .isDuplicate())
                .isFalse();
    }

    @Test
    void aResultThatCannotBeGivenAgainIsAnErrorAndNoSecondRun() {
        this.operations.execute(id("a"), Receipt.class, () -> book("a"));
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Renamed.class, () -> {
                    happen("twice");
                    return null;
                }))
                .withMessageContaining(Receipt.class.getName())
                .withMessageContaining(Renamed.class.getName());
        this.jdbc.update("update idempotency_result set result = '{\"number\": \"many\"}'");
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Receipt.class, () -> book("twice")))
                .withMessageContaining("can no longer be read");
        this.jdbc.update("delete from idempotency_result");
        assertThatExceptionOfType(ResultForgottenException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), Receipt.class, () -> book("twice")))
                .withMessageContaining("has been done before");
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void aResultThatAnIdLeftBehindWhenItWasForgottenIsReplaced() {
        this.operations.execute(id("a"), String.class, () -> "first");
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        this.operations.execute(id("a"), Integer.class, () -> 2);
        assertThat(this.operations.execute(id("a"), Integer.class, () -> 3).result())
                .isEqualTo(2);
    }

    @Test
    void aTransactionThatHasReadBeforeFindsAResultThatWasCommittedSince() {
        this.transaction.executeWithoutResult(status -> {
            effects();
            this.jdbc.queryForList("select * from idempotency_result");
            try {
                this.threads
                        .submit(() -> this.operations.execute(id("a"), String.class, () -> "theirs"))
                        .get(30, TimeUnit.SECONDS);
            } catch (Exception ex) {
                throw new IllegalStateException(ex);
            }
            assertThat(this.operations
                            .execute(id("a"), String.class, () -> "mine")
                            .result())
                    .isEqualTo("theirs");
        });
    }

    @Test
    void theWorkKnowsWhatItIsFor() {
        this.operations.execute(
                id("a"),
                () -> assertThat(IdempotencyContext.current().messageId()).isEqualTo(id("a")));
    }

    @Test
    void theWorkIsKnownUntilTheEndOfTheTransactionThatWasOpenedForIt() {
        List<String> sent = new ArrayList<>();
        Runnable work =
                () -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                    @Override
                    public void beforeCommit(boolean readOnly) {
                        sent.add(IdempotencyContext.nextRecordId("topic", List::of));
                    }
                });
        this.operations.execute(id("a"), work);
        this.jdbc.update("delete from idempotency_processed");
        this.operations.execute(id("a"), work);
        assertThat(sent).hasSize(2).doesNotContainNull();
        assertThat(sent.get(0)).isEqualTo(sent.get(1));
        assertThat(IdempotencyContext.nextRecordId("topic", List::of)).isNull();
    }

    @Test
    void declaredConsumersAreKnownToMetersAndEndpoint() {
        this.operations.execute(id("a"), () -> {});
        assertThat(this.app
                        .bean(MeterRegistry.class)
                        .get("idempotency.messages")
                        .tag("consumer", "receipts")
                        .tag("outcome", "processed")
                        .counter()
                        .count())
                .isPositive();
        assertThat(String.valueOf(this.app.bean(IdempotencyEndpoint.class).read("receipts", null)))
                .contains("consumer=receipts", "retention=PT720H");
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
        assertThat(this.operations
                        .execute(id("half-80"), String.class, () -> "again")
                        .isDuplicate())
                .isFalse();
        assertThat(this.operations
                        .execute(id("half-0"), String.class, () -> "again")
                        .result())
                .isEqualTo("half-0");
        assertThatExceptionOfType(ResultForgottenException.class)
                .isThrownBy(() -> this.operations.execute(id("half-40"), String.class, () -> "again"));
    }

    abstract void age(String table, String key, double days);

    @Test
    void anErrorOfTheDatabaseThatReachesTheCallerIsTheCallersToSee() {
        assertThatExceptionOfType(DataIntegrityViolationException.class)
                .isThrownBy(() -> this.operations.execute(id("a"), () -> happen(null)));
        assertThat(this.operations.execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }
}
