package dev.idempotency.internal.operation;

import static dev.idempotency.app.Thrown.assertThrown;
import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
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
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.Steps;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
import org.junit.jupiter.params.provider.EnumSource;
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
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
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
    private Effects effects;
    private ExecutorService threads;

    /** A query for the number of transactions that wait for another one. */
    private String waiting() {
        return switch (this.server) {
            case POSTGRES ->
                "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
            case MARIADB -> "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
            case H2 -> "select count(*) from information_schema.sessions where executing_statement like 'insert %'";
        };
    }

    /** Makes a message's rows this many days old. */
    private void age(String key, double days, String... tables) {
        BigDecimal time = EpochSeconds.toDecimal(Instant.now().minusSeconds(Math.round(days * 86_400)));
        for (String table : tables) {
            String update = "update idempotency_%s set processed_at = %s where message_id = ?";
            this.jdbc.update(
                    update.formatted(
                            table,
                            this.app.bean(IdempotencyDatabase.class).dialect().timeOfSeconds()),
                    time,
                    key);
        }
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
        this.effects = this.app.bean(Effects.class);
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
        this.effects.happen(name);
    }

    private boolean isDuplicate(String key) {
        return this.operations.execute(id(key), () -> {}).duplicate();
    }

    /** The application's operations with another claim timeout or transaction manager. */
    private IdempotentOperations operationsWith(Duration claimTimeout, PlatformTransactionManager manager) {
        return new IdempotentTemplate(
                new JdbcProcessedMessageStore(this.app.bean(IdempotencyDatabase.class), claimTimeout),
                this.app.bean(DeclaredConsumers.class),
                this.app.bean(ResultStore.class),
                null,
                null,
                new StaticListableBeanFactory(Map.of("manager", manager)));
    }

    private void awaitWaiting(int transactions) {
        Awaitility.await(transactions + " waiting transactions")
                .until(() -> this.jdbc.queryForObject(waiting(), Integer.class) == transactions);
    }

    private CompletableFuture<Void> elsewhere(Runnable work) {
        return CompletableFuture.runAsync(work, this.threads).orTimeout(30, TimeUnit.SECONDS);
    }

    private <T> @Nullable T result(String key, Class<T> type, @Nullable T result) {
        return this.operations.execute(id(key), type, () -> result).result();
    }

    private TransactionTemplate transactionWith(Consumer<TransactionTemplate> attributes) {
        TransactionTemplate other = new TransactionTemplate(this.transaction.getTransactionManager());
        attributes.accept(other);
        return other;
    }

    private int count(String table) {
        return this.jdbc.queryForObject("select count(*) from " + table, Integer.class);
    }

    private void cleanUp() {
        assertThat(this.app.bean(Cleanup.class).run().failure()).isNull();
    }

    @Test
    void aDuplicateWithAnotherFingerprintIsRefusedAndNotAnswered() {
        this.operations.execute(id("a"), "{amount: 1}", Long.class, () -> 1L);
        Execution<Long> same = this.operations.execute(id("a"), "{amount: 1}", Long.class, () -> 2L);
        assertThat(same.result()).isEqualTo(1);
        assertConflict(() -> this.operations.execute(id("a"), "{amount: 2}", Long.class, () -> 2L));
        assertConflict(() -> this.operations.execute(id("a"), "{amount: 2}", () -> happen("a")));
        assertThat(this.effects.all()).isEmpty();
        assertThat(result("a", Long.class, 3L)).as("without a fingerprint").isEqualTo(1);
    }

    private static void assertConflict(ThrowingCallable call) {
        assertThrown(MessageConflictException.class, call);
    }

    @Test
    void workIsDoneOnceAndADuplicateDoesNone() {
        Execution<?> first = this.operations.execute(id("a"), () -> happen("a"));
        Execution<?> second = this.operations.execute(id("a"), () -> happen("a"));
        assertThat(List.of(first, second)).extracting(Execution::duplicate).containsExactly(false, true);
        assertThat(second.result()).isNull();
        assertThat(this.effects.all()).containsExactly("a");
        assertThat(count("idempotency_result")).isZero();
        assertThat(this.outcomes.processed).containsExactly(id("a"));
        assertThat(this.outcomes.duplicates).singleElement().satisfies(duplicate -> {
            assertThat(duplicate.id()).isEqualTo(id("a"));
            assertThat(duplicate.kind()).isEqualTo(DuplicateKind.REPUBLICATION);
            assertThat(duplicate.age()).isNotNull();
        });
    }

    @Test
    void ofManyAtOnceOneDoesTheWorkThoughTheFirstOnesFail() {
        IdempotentOperations patient = operationsWith(Duration.ofSeconds(30), this.transaction.getTransactionManager());
        AtomicInteger calls = new AtomicInteger();
        CompletableFuture<Void> fail = new CompletableFuture<>();
        Supplier<Execution<Receipt>> call = () -> patient.execute(id("a"), Receipt.class, () -> {
            fail.join();
            if (calls.incrementAndGet() <= 3) {
                throw new IllegalStateException("no");
            }
            happen("a");
            return Receipt.of(calls.get());
        });
        List<CompletableFuture<String>> outcomes = Stream.generate(
                        () -> CompletableFuture.supplyAsync(call, this.threads).handle((done, failure) -> {
                            if (failure != null) {
                                return failure.getCause().getMessage();
                            }
                            assertThat(done.result()).isEqualTo(Receipt.of(4));
                            return done.duplicate() ? "duplicate" : "done";
                        }))
                .limit(6)
                .toList();
        awaitWaiting(5);
        fail.complete(null);
        assertThat(outcomes.stream()
                        .map(outcome -> outcome.orTimeout(30, TimeUnit.SECONDS).join()))
                .containsExactlyInAnyOrder("no", "no", "no", "done", "duplicate", "duplicate");
        assertThat(this.effects.all()).containsExactly("a");
    }

    @Test
    void workThatFailsLeavesNothingAndItsExceptionReachesTheCallerAsItIs() {
        for (Throwable failure : List.of(new IllegalStateException("no"), new IOException("no"))) {
            assertThatThrownBy(() -> this.operations.execute(id("a"), String.class, () -> {
                        happen("a");
                        throw undeclared(failure);
                    }))
                    .isSameAs(failure);
        }
        assertThrown(DataIntegrityViolationException.class, () -> this.operations.execute(id("a"), () -> happen(null)));
        assertThat(this.effects.all()).isEmpty();
        assertThat(this.outcomes.failed).hasValue(3);
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void anExecutionJoinsTheOpenTransactionAndMarksItWhenItFails() {
        assertThrown(
                UnexpectedRollbackException.class,
                () -> this.transaction.executeWithoutResult(status -> {
                    happen("outer");
                    this.operations.execute(id("good"), () -> happen("good"));
                    assertThrown(
                            IllegalStateException.class, () -> this.operations.execute(id("bad"), OperationsIT::fail));
                }));
        assertThat(this.effects.all()).isEmpty();
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
        nested.executeWithoutResult(outer -> assertThrown(
                IllegalStateException.class,
                () -> nested.executeWithoutResult(inner -> joining.execute(id("a"), OperationsIT::fail))));
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

    private void assertUnprotected(ThrowingCallable claim, String... messages) {
        assertThrown(UnprotectedCallException.class, claim, messages);
    }

    @Test
    void claimsThatWouldNotBePartOfATransactionAreRefused() {
        assertUnprotected(() -> this.operations.claim(id("a")), "no transaction open", "execute(…)");
        assertUnprotected(() -> this.operations.claimAll(List.of()), "no transaction open");
        transactionWith(attributes -> attributes.setReadOnly(true))
                .executeWithoutResult(status ->
                        assertUnprotected(() -> this.operations.execute(id("a"), () -> happen("a")), "read-only"));
        DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:other-operations");
        new TransactionTemplate(new JdbcTransactionManager(other)).executeWithoutResult(status -> {
            assertUnprotected(() -> this.operations.claim(id("a")), "not one of the store's DataSource");
            this.effects.all();
            assertUnprotected(() -> this.operations.claim(id("a")), "not one of the store's DataSource");
            assertUnprotected(
                    () -> this.operations.execute(id("a"), () -> happen("lost")),
                    "receipts:a",
                    "another DataSource",
                    other.toString(),
                    "NOT_SUPPORTED");
            this.transaction.executeWithoutResult(own -> this.operations.execute(id("own"), () -> happen("own")));
        });
        assertThat(this.effects.all()).containsExactly("own");
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
        assertThat(this.effects.all()).containsExactly("outer");
        assertThat(isDuplicate("a")).isFalse();
    }

    /** Such as a transaction of Kafka or JMS. */
    @Test
    void aTransactionWithoutAnyDatabaseIsNoObstacleToAnExecution() {
        TransactionSynchronizationManager.initSynchronization();
        TransactionSynchronizationManager.setActualTransactionActive(true);
        try {
            this.operations.execute(id("a"), () -> happen("a"));
            this.effects.all();
            this.operations.execute(id("b"), () -> happen("b"));
        } finally {
            TransactionSynchronizationUtils.invokeAfterCompletion(
                    TransactionSynchronizationManager.getSynchronizations(),
                    TransactionSynchronization.STATUS_COMMITTED);
            TransactionSynchronizationManager.clear();
        }
        assertThat(this.effects.all()).containsExactly("a", "b");
    }

    /** Spring calls a {@code @TransactionalEventListener} this way. */
    @Test
    void claimsAfterACommitAreRefused() {
        IdempotentOperations used = this.operations;
        AtomicBoolean refused = new AtomicBoolean();
        this.transaction.executeWithoutResult(
                status -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                    @Override
                    public void afterCompletion(int completion) {
                        assertUnprotected(() -> used.execute(id("a"), OperationsIT::fail), "has ended", "REQUIRES_NEW");
                        assertUnprotected(() -> used.claim(id("a")), "has ended", "REQUIRES_NEW");
                        refused.set(true);
                    }
                }));
        assertThat(refused).isTrue();
        assertThat(isDuplicate("a")).isFalse();
    }

    @Test
    void anExecutionWithinOneSharesItsTransactionAndNotItsContext() {
        MessageId inner = MessageId.of("imports", "inner");
        assertThrown(
                IllegalStateException.class,
                () -> this.operations.execute(id("a"), () -> {
                    assertThat(isDuplicate("a")).isTrue();
                    this.operations.execute(inner, () -> assertContext(inner));
                    assertContext(id("a"));
                    throw new IllegalStateException("no");
                }));
        assertThat(this.operations.execute(inner, () -> {}).duplicate()).isFalse();
        assertThrown(
                ResultForgottenException.class,
                () -> this.operations.execute(id("b"), String.class, () -> result("b", String.class, "inner")),
                "still at work");
        TransactionTemplate own = transactionWith(
                attributes -> attributes.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        assertThrown(
                ClaimTimeoutException.class,
                () -> this.operations.execute(id("b"), () -> own.executeWithoutResult(status -> isDuplicate("b"))));
    }

    private static void assertContext(MessageId id) {
        assertThat(IdempotencyContext.current().messageId()).isEqualTo(id);
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
        MessageId unknown = new MessageId("unheard-of", "a");
        assertThrown(
                IdempotencyConfigurationException.class,
                () -> this.operations.execute(unknown, () -> happen("a")),
                "[imports, receipts]",
                "IdempotentConsumer.named(\"unheard-of\")");
        assertThrown(
                IdempotencyConfigurationException.class,
                () -> this.transaction.executeWithoutResult(status -> this.operations.claim(unknown)));
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> this.operations.execute(null, () -> happen("a")),
                () -> this.operations.claimAll(Arrays.asList(id("a"), null)))) {
            assertThrown(IllegalArgumentException.class, call, "There is no id");
        }
        assertThat(this.effects.all()).isEmpty();
    }

    private <T extends @Nullable Object> T twice(String key, Class<T> type, T result) {
        return twice(key, ParameterizedTypeReference.forType(type), result);
    }

    private <T extends @Nullable Object> T twice(String key, ParameterizedTypeReference<T> type, T result) {
        T first = this.operations.execute(id(key), type, () -> result).result();
        T again = this.operations.execute(id(key), type, OperationsIT::fail).result();
        assertThat(again).usingRecursiveComparison().isEqualTo(first);
        return again;
    }

    private static <T> T fail() {
        throw new IllegalStateException("called");
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
        assertThat(this.effects.all()).isEmpty();
        assertThat(isDuplicate("a")).isFalse();
    }

    private <T> void refuseToKeep(Class<T> type, Supplier<? extends T> result, String why) {
        Supplier<T> work = () -> {
            happen(type.getName());
            return result.get();
        };
        assertThrown(ResultException.class, () -> this.operations.execute(id("a"), type, work), type.getName(), why);
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
        assertThrown(
                IllegalArgumentException.class,
                () -> this.operations.execute(id("a"), type, OperationsIT::fail),
                type.getType().getTypeName(),
                why);
    }

    record Before(String name, @Nullable String note) {}

    /** A later version of {@link Before}, with a renamed component. */
    record After(String title, @Nullable String note) {}

    /** A later version of {@link Before}, with an additional component. */
    record Grown(
            String name, @Nullable String note, @Nullable List<String> more) {}

    @Test
    void aResultThatCannotBeGivenAgainIsAnErrorAndNoSecondRun() {
        this.operations.execute(id("a"), Before.class, () -> new Before("name", null));
        refuseToGive(After.class, Before.class.getName(), After.class.getName());
        pretendToBe(After.class);
        refuseToGive(After.class, "can no longer be read", "name");
        pretendToBe(Grown.class);
        assertThat(result("a", Grown.class, null)).isEqualTo(new Grown("name", null, null));
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
        assertThrown(ResultException.class, () -> this.operations.execute(id("a"), type, OperationsIT::fail), messages);
    }

    @Test
    void theResultOfAnEarlierClaimIsNotGivenToDuplicatesOfALaterOne() {
        result("a", String.class, "first");
        result("b", String.class, "first");
        this.jdbc.update("delete from idempotency_processed");
        this.transaction.executeWithoutResult(status -> {
            this.jdbc.queryForList("select * from idempotency_result");
            elsewhere(() -> {
                        result("a", String.class, "second");
                        this.operations.execute(id("b"), () -> {});
                        result("c", String.class, "theirs");
                    })
                    .join();
            assertThat(result("a", String.class, "third")).isEqualTo("second");
            assertThat(result("c", String.class, "mine")).isEqualTo("theirs");
            status.setRollbackOnly();
        });
        assertThrown(ResultForgottenException.class, () -> result("b", String.class, "third"));
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        assertThat(twice("a", Integer.class, 2)).isEqualTo(2);
    }

    @Test
    void idsAndResultsAreForgottenAfterTheirOwnTimes() {
        // Gaps are shorter than a result's retention: a longer pause would be skipped.
        for (int half = 0; half <= 80; half++) {
            String key = "half-" + half;
            this.operations.execute(id(key), String.class, () -> key);
            age(key, half / 2.0, "processed", "result");
        }
        cleanUp();
        assertThat(isDuplicate("half-80")).isFalse();
        assertThat(result("half-0", String.class, "again")).isEqualTo("half-0");
        assertThrown(ResultForgottenException.class, () -> result("half-40", String.class, "again"));
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
        assertThrown(
                DataIntegrityViolationException.class,
                () -> this.operations.execute(id("a"), () -> {
                    work.get();
                    happen(null);
                }));
        Execution<Receipt> second = this.operations.execute(id("a"), Receipt.class, work);
        assertThat(second.duplicate()).isFalse();
        assertThat(second.result()).isEqualTo(Receipt.of(1));
        assertThat(this.effects.all()).containsExactly("charged");
        assertThat(keys).hasSize(2).endsWith("mail");
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        this.operations.execute(id("a"), Receipt.class, work);
        assertThat(keys).hasSize(4).element(2).isEqualTo(keys.get(0));
    }

    @Test
    void stepsAreForgottenAfterTheTimeOfTheirMessagesUnlessTheirOutcomeIsUnknown() {
        for (int day = 0; day <= 40; day += 10) {
            String key = "day-" + day;
            this.operations.execute(id(key), () -> IdempotencyContext.current().stepAtMostOnce("mail", () -> {}));
            age(key, day, "processed", "step");
        }
        this.jdbc.update("""
                insert into idempotency_step (consumer_id, message_id, step_name, status)
                values ('receipts', 'day-40', 'late', 'done'), ('receipts', 'unknown', 'mail', 'started')
                """);
        age("unknown", 40, "step");
        cleanUp();
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
        age("theirs", 40, "processed", "result");
        this.jdbc.update("update idempotency_processed set consumer_id = 'elsewhere'");
        this.jdbc.update("update idempotency_result set consumer_id = 'elsewhere'");
        for (int kept = 1; kept >= 0; kept--) {
            cleanUp();
            assertThat(count("idempotency_result")).isEqualTo(kept);
            this.jdbc.update("delete from idempotency_processed");
        }
    }

    @Test
    void aTransactionWhoseIsolationHidesADuplicateIsToldSo() {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        TransactionTemplate isolated = transactionWith(
                attributes -> attributes.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ));
        assertThatExceptionOfType(StoreFailedException.class)
                .isThrownBy(() -> isolated.executeWithoutResult(status -> {
                    this.effects.all();
                    elsewhere(() -> isDuplicate("a")).join();
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
        assertThrown(
                TransactionLostException.class,
                () -> this.operations.execute(id("a"), String.class, () -> {
                    failAndCatch();
                    return "done";
                }));
        assertThrown(
                TransactionLostException.class,
                () -> this.transaction.executeWithoutResult(status -> {
                    this.operations.claim(id("a"));
                    failAndCatch();
                }));
        assertThat(isDuplicate("a")).isFalse();
    }

    private void failAndCatch() {
        happen("before");
        try {
            happen(null);
        } catch (DataIntegrityViolationException ex) {
            // Like some applications.
        }
    }
}
