package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.result.KeptResults;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The same, as its worst user would have it. */
abstract class AbstractHostileOperationsIT extends AbstractOperationsIT {

    record Before(String name, @Nullable String note) {}

    /** The same class, had it been changed: a part has another name. */
    record After(String title, @Nullable String note) {}

    /** The same class, had it been changed: it has one part more. */
    record Grown(
            String name, @Nullable String note, @Nullable List<String> more) {}

    private int results() {
        return jdbc().queryForObject("select count(*) from idempotency_result", Integer.class);
    }

    @Test
    void aResultIsForgottenWithItsId() {
        operations().execute(id("a"), String.class, () -> "first");
        assertThat(app().bean(ProcessedMessageStore.class).forget(id("a"))).isTrue();
        assertThat(results()).isZero();
    }

    @Test
    void theResultOfAnEarlierClaimIsNotGivenToDuplicatesOfALaterOne() {
        operations().execute(id("a"), String.class, () -> "first");
        jdbc().update("delete from idempotency_processed");
        operations().execute(id("a"), () -> happen("a"));
        assertThatExceptionOfType(ResultForgottenException.class)
                .isThrownBy(() -> operations().execute(id("a"), String.class, () -> "twice"));
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void aTransactionThatHasSeenTheResultOfAnEarlierClaimFindsThatOfTheLaterOne() {
        operations().execute(id("a"), String.class, () -> "first");
        operations().execute(id("b"), String.class, () -> "first");
        jdbc().update("delete from idempotency_processed");
        transaction().executeWithoutResult(status -> {
            jdbc().queryForList("select * from idempotency_result");
            elsewhere(() -> {
                operations().execute(id("a"), String.class, () -> "second");
                operations().execute(id("b"), () -> {});
            });
            assertThat(operations()
                            .execute(id("a"), String.class, () -> "third")
                            .result())
                    .isEqualTo("second");
            assertThatExceptionOfType(ResultForgottenException.class)
                    .isThrownBy(() -> operations().execute(id("b"), String.class, () -> "third"));
            status.setRollbackOnly();
        });
    }

    private void elsewhere(Runnable work) {
        try {
            threads().submit(work).get();
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void aResultIsKeptForNoLongerThanItsIdThoughItIsTheLastOne() {
        operations().execute(id("last-result"), String.class, () -> "kept");
        age("idempotency_processed", "last-result", 40);
        age("idempotency_result", "last-result", 40);
        for (int day = 0; day < 40; day++) {
            operations().execute(id("day-" + day), () -> {});
            age("idempotency_processed", "day-" + day, day);
        }
        assertThat(app().bean(Cleanup.class).run().failure()).isNull();
        assertThat(results()).isZero();
    }

    @Test
    void resultsOfAConsumerElsewhereAreKeptAsLongAsItClaims() {
        operations().execute(id("theirs"), String.class, () -> "kept");
        operations().execute(id("their-last"), () -> {});
        age("idempotency_processed", "theirs", 40);
        age("idempotency_result", "theirs", 40);
        jdbc().update("update idempotency_processed set consumer_id = 'elsewhere'");
        jdbc().update("update idempotency_result set consumer_id = 'elsewhere'");
        assertThat(app().bean(Cleanup.class).run().failure()).isNull();
        assertThat(results()).isOne();
        jdbc().update("delete from idempotency_processed");
        assertThat(app().bean(Cleanup.class).run().failure()).isNull();
        assertThat(results()).as("of a consumer that has gone").isZero();
    }

    @Test
    void workThatFailedIsNotCommittedByWhoeverCatchesItsException() {
        JdbcTransactionManager lenient = new JdbcTransactionManager(app().bean(DataSource.class));
        lenient.setGlobalRollbackOnParticipationFailure(false);
        StaticListableBeanFactory beans = new StaticListableBeanFactory(Map.of("lenient", lenient));
        TransactionalOperations operations = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class), app().bean(DeclaredConsumers.class), null, beans);
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> new TransactionTemplate(lenient).executeWithoutResult(status -> {
                    try {
                        operations.execute(id("a"), () -> {
                            throw new IllegalStateException("no");
                        });
                    } catch (IllegalStateException ex) {
                        happen("outer");
                    }
                }));
        assertThat(effects()).isEmpty();
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    @Test
    void anExecutionWhoseTransactionWasMarkedToBeRolledBackFromOutsideIsNoSuccess() {
        JdbcTransactionManager marking = new JdbcTransactionManager(app().bean(DataSource.class));
        marking.addListener(new TransactionExecutionListener() {

            @Override
            public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
                transaction.setRollbackOnly();
            }
        });
        TransactionalOperations operations = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class),
                app().bean(DeclaredConsumers.class),
                null,
                new StaticListableBeanFactory(Map.of("marking", marking)));
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> operations.execute(id("a"), () -> happen("a")));
        assertThat(effects()).isEmpty();
    }

    @Test
    void aTransactionManagerOfAParentContextIsFound() {
        DefaultListableBeanFactory child =
                new DefaultListableBeanFactory(app().context().getBeanFactory());
        TransactionalOperations operations = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class), app().bean(DeclaredConsumers.class), null, child);
        operations.afterSingletonsInstantiated();
        operations.execute(id("a"), () -> happen("a"));
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void workThatHasItsTransactionMarkedToBeRolledBackIsNoSuccess() {
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> operations().execute(id("a"), String.class, () -> {
                    transaction().executeWithoutResult(TransactionStatus::setRollbackOnly);
                    return "done";
                }));
        assertThat(results()).isZero();
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    @Test
    void anExecutionWithinOneOfTheSameIdDoesNothing() {
        operations().execute(id("a"), () -> {
            assertThat(operations().execute(id("a"), () -> happen("twice")).isDuplicate())
                    .isTrue();
            happen("a");
        });
        assertThat(effects()).containsExactly("a");
        assertThatExceptionOfType(ResultForgottenException.class)
                .isThrownBy(() -> operations().execute(id("b"), String.class, () -> operations()
                        .execute(id("b"), String.class, () -> "inner")
                        .result()))
                .withMessageContaining("still at work");
        assertThat(operations().execute(id("b"), () -> {}).isDuplicate()).isFalse();
    }

    @Test
    void anExecutionOfAnotherIdWithinOneSharesItsTransactionAndNotItsContext() {
        operations().execute(id("outer"), () -> {
            operations().execute(MessageId.of("imports", "inner"), () -> assertThat(
                            IdempotencyContext.current().messageId())
                    .isEqualTo(MessageId.of("imports", "inner")));
            assertThat(IdempotencyContext.current().messageId()).isEqualTo(id("outer"));
        });
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> operations().execute(id("failing"), () -> {
                    operations().execute(MessageId.of("imports", "undone"), () -> {});
                    throw new IllegalStateException("no");
                }));
        assertThat(operations()
                        .execute(MessageId.of("imports", "undone"), () -> {})
                        .isDuplicate())
                .isFalse();
    }

    @Test
    void anExecutionInATransactionOfItsOwnWithinOneOfTheSameIdEndsAfterTheClaimsTimeout() {
        TransactionTemplate own = new TransactionTemplate(transaction().getTransactionManager());
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        assertThatExceptionOfType(ClaimTimeoutException.class).isThrownBy(() -> operations()
                .execute(
                        id("a"),
                        () -> own.executeWithoutResult(
                                status -> operations().execute(id("a"), () -> happen("twice")))));
        assertThat(effects()).isEmpty();
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    @Test
    void keysThatLookAlikeAreToldApart() {
        List<MessageId> ids = Stream.of(
                        "a",
                        "A",
                        "a ",
                        " a",
                        "a\t",
                        "\u00e4",
                        "a\u0308",
                        "\u00df",
                        "ss",
                        "\uD83D\uDE00",
                        "\uD83D\uDE01",
                        "a\uD83D\uDE00",
                        "a\uD83D\uDE01",
                        "%",
                        "_",
                        "'",
                        "\\",
                        "\u200b",
                        "\uFFFD",
                        "?")
                .map(AbstractOperationsIT::id)
                .toList();
        for (MessageId id : ids) {
            assertThat(operations().execute(id, String.class, id::value).isDuplicate())
                    .as(id.value())
                    .isFalse();
        }
        for (MessageId id : ids) {
            assertThat(operations().execute(id, String.class, () -> "twice").result())
                    .isEqualTo(id.value());
        }
        transaction().executeWithoutResult(status -> {
            assertThat(operations().claimAll(ids)).isEmpty();
            Set<MessageId> fresh = Set.copyOf(
                    ids.stream().map(id -> new MessageId("imports", id.value())).toList());
            assertThat(operations().claimAll(fresh)).hasSameElementsAs(fresh);
        });
    }

    @Test
    void anIdThatDatabasesWouldChangeIsRefusedHoweverItIsMade() {
        for (String value : List.of("a\0b", "a\uD83D", "\uDE00a", "\uDE00\uD83D")) {
            assertThatExceptionOfType(InvalidMessageKeyException.class)
                    .isThrownBy(() -> new MessageId("receipts", value));
        }
    }

    @Test
    void resultsOfAnyKindAreGivenAgain() {
        assertThat(twice("int", int.class, 7)).isEqualTo(7);
        assertThat(twice("boolean", Boolean.class, true)).isTrue();
        assertThat(twice("nothing", Void.class, null)).isNull();
        assertThat(twice("array", byte[].class, new byte[] {0, -1})).containsExactly(0, -1);
        assertThat(twice("empty", String.class, "")).isEmpty();
        OffsetDateTime time = OffsetDateTime.parse("2026-01-01T00:00:00+02:00");
        assertThat(twice("time", OffsetDateTime.class, time)).isEqualTo(time).hasToString(time.toString());
        Unordered unordered = new Unordered(
                IntStream.range(0, 100).mapToObj(i -> "element " + i).collect(Collectors.toUnmodifiableSet()),
                Map.of("amount", new BigDecimal("10.00"), "b", 1L, "c", List.of()));
        assertThat(twice("unordered", Unordered.class, unordered).elements()).isEqualTo(unordered.elements());
        ParameterizedTypeReference<Optional<Map<String, List<Before>>>> nested = new ParameterizedTypeReference<>() {};
        Optional<Map<String, List<Before>>> given = Optional.of(Map.of("k", List.of(new Before("n", null))));
        assertThat(operations().execute(id("nested"), nested, () -> given).result())
                .isEqualTo(given);
        assertThat(operations().execute(id("nested"), nested, Optional::empty).result())
                .isEqualTo(given);
    }

    private <T extends @Nullable Object> T twice(String key, Class<T> type, T result) {
        operations().execute(id(key), type, () -> result);
        return operations()
                .execute(id(key), type, () -> {
                    throw new IllegalStateException("done twice");
                })
                .result();
    }

    record Unordered(Set<String> elements, Map<String, Object> values) {}

    static class NeverRead {

        private final String id = UUID.randomUUID().toString();

        public String getId() {
            return this.id;
        }
    }

    static class ReadOnly {

        @JsonProperty(access = JsonProperty.Access.READ_ONLY)
        public String id = UUID.randomUUID().toString();
    }

    @JsonIgnoreProperties(value = "id", allowGetters = true)
    static class Ignored {

        public String id = UUID.randomUUID().toString();
    }

    record Within(List<ReadOnly> parts) {}

    @Test
    void resultsThatDifferWhenReadAgainUndoTheWork() {
        refuseToKeep(NeverRead.class, NeverRead::new);
        refuseToKeep(ReadOnly.class, ReadOnly::new);
        refuseToKeep(Ignored.class, Ignored::new);
        refuseToKeep(Within.class, () -> new Within(List.of(new ReadOnly())));
        assertThat(effects()).isEmpty();
    }

    private <T> void refuseToKeep(Class<T> type, Supplier<T> result) {
        assertThatExceptionOfType(ResultException.class)
                .as(type.getName())
                .isThrownBy(() -> operations().execute(id("a"), type, () -> {
                    happen(type.getName());
                    return result.get();
                }))
                .withMessageContaining(type.getName())
                .withMessageContaining("/id ");
    }

    @Test
    void asynchronousTypesAreRefusedBeforeTheWork() {
        refuseAsynchronous(new ParameterizedTypeReference<CompletableFuture<String>>() {});
        refuseAsynchronous(new ParameterizedTypeReference<List<Future<String>>>() {});
        refuseAsynchronous(new ParameterizedTypeReference<Flow.Publisher<String>[]>() {});
        refuseAsynchronous(ParameterizedTypeReference.forType(ForkJoinTask.class));
    }

    private <T> void refuseAsynchronous(ParameterizedTypeReference<T> type) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .as(type.toString())
                .isThrownBy(() -> operations().execute(id("a"), type, () -> {
                    throw new IllegalStateException("called");
                }))
                .withMessageContaining(type.getType().getTypeName())
                .withMessageContaining("completed later");
    }

    @Test
    void aResultOfWhichAPartIsLostAsItsClassHasChangedIsAnErrorAndOneThatHasGrownIsNot() {
        operations().execute(id("a"), Before.class, () -> new Before("name", null));
        pretendToBe(After.class);
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> operations().execute(id("a"), After.class, () -> new After("twice", null)))
                .withMessageContaining("can no longer be read")
                .withMessageContaining("name");
        pretendToBe(Grown.class);
        assertThat(operations()
                        .execute(id("a"), Grown.class, () -> new Grown("twice", null, null))
                        .result())
                .isEqualTo(new Grown("name", null, null));
    }

    private void pretendToBe(Class<?> type) {
        jdbc().update("update idempotency_result set result_type = ?", type.getName());
    }

    @Test
    void aTypeOfWhichAPartIsOpenIsRefusedBeforeTheWork() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> executeGenerically(id("a"), List.of(new Before("name", null))))
                .withMessageContaining("java.util.List<T>");
        assertThat(effects()).isEmpty();
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    @Test
    void aTypeOfWhichABoundOrAnOwnerIsOpenIsRefused() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> executeWithWildcard(id("a"), List.of(new Before("name", null))))
                .withMessageContaining("? extends T");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> executeWithOwner(id("a"), new Owner<>()))
                .withMessageContaining("Owner<T>");
        ParameterizedTypeReference<List<? extends Before>> known = new ParameterizedTypeReference<>() {};
        List<? extends Before> given = List.of(new Before("name", null));
        assertThat(operations().execute(id("a"), known, () -> given).result()).isEqualTo(given);
    }

    private <T> List<? extends T> executeWithWildcard(MessageId id, List<T> result) {
        return operations()
                .execute(id, new ParameterizedTypeReference<List<? extends T>>() {}, () -> result)
                .result();
    }

    static class Owner<T> {

        class Owned {

            public @Nullable T value;
        }
    }

    private <T> Owner<T>.Owned executeWithOwner(MessageId id, Owner<T> owner) {
        return operations()
                .execute(id, new ParameterizedTypeReference<Owner<T>.Owned>() {}, () -> owner.new Owned())
                .result();
    }

    @Test
    void aClassThatDoesNotSayAsWhatItsPartsAreToBeReadIsRefusedBeforeTheWork() {
        for (Class<?> type : List.of(Object.class, List.class, Optional.class, Map.class, List[].class)) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .as(type.getName())
                    .isThrownBy(() -> operations().execute(id("a"), type, () -> {
                        happen("a");
                        return null;
                    }))
                    .withMessageContaining(type.getTypeName())
                    .withMessageContaining("ParameterizedTypeReference");
        }
        assertThat(effects()).isEmpty();
    }

    static class Payment {

        public int amount;
    }

    static class CardPayment extends Payment {

        public @Nullable String card;
    }

    @Test
    void aResultOfASubclassWhosePartsWouldBeLostIsAnErrorAndUndoesTheWork() {
        CardPayment payment = new CardPayment();
        payment.amount = 7;
        assertThat(twice("plain", Payment.class, payment).amount)
                .as("nothing is lost")
                .isEqualTo(7);
        payment.card = "4711";
        assertThatExceptionOfType(ResultException.class)
                .isThrownBy(() -> operations().execute(id("a"), Payment.class, () -> {
                    happen("a");
                    return payment;
                }))
                .withMessageContaining("/card")
                .withMessageContaining(CardPayment.class.getName());
        assertThat(effects()).isEmpty();
        assertThat(twice("a", CardPayment.class, payment).card).isEqualTo("4711");
    }

    @Test
    void aDuplicateWithoutAResultDoesNotKeepOthersFromKeepingTheirs() {
        operations().execute(id("b"), () -> {});
        transaction().executeWithoutResult(status -> {
            assertThatExceptionOfType(ResultForgottenException.class)
                    .isThrownBy(() -> operations().execute(id("b"), String.class, () -> "twice"));
            try {
                threads()
                        .submit(() -> operations().execute(id("c"), String.class, () -> "mine"))
                        .get(30, TimeUnit.SECONDS);
            } catch (Exception ex) {
                throw new IllegalStateException(ex);
            }
            status.setRollbackOnly();
        });
        assertThat(operations().execute(id("c"), String.class, () -> "again").result())
                .isEqualTo("mine");
    }

    @Test
    void theTimeOfAClaimIsThatOfAllItsIds() throws Exception {
        // So many that the last one is held for long enough, however late the claim begins.
        List<MessageId> ids = Stream.of("a", "b", "c", "d", "e", "f")
                .map(AbstractOperationsIT::id)
                .toList();
        CountDownLatch claimed = new CountDownLatch(ids.size());
        CountDownLatch end = new CountDownLatch(1);
        List<Future<?>> holders = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            int number = i;
            holders.add(threads().submit(() -> transaction().executeWithoutResult(status -> {
                operations().claim(ids.get(number));
                claimed.countDown();
                try {
                    claimed.await();
                    end.await(800L * (number + 1), TimeUnit.MILLISECONDS);
                } catch (InterruptedException ex) {
                    throw new IllegalStateException(ex);
                }
                status.setRollbackOnly();
            })));
        }
        claimed.await();
        assertThatExceptionOfType(ClaimTimeoutException.class).isThrownBy(() -> transaction()
                .executeWithoutResult(status -> operations().claimAll(ids)));
        end.countDown();
        for (Future<?> holder : holders) {
            holder.get(30, TimeUnit.SECONDS);
        }
        transaction().executeWithoutResult(status -> assertThat(operations().claimAll(ids))
                .containsExactlyElementsOf(ids));
    }

    /** When a callback of a transaction is called. */
    private enum Moment {
        BEFORE_COMMIT,
        AFTER_COMMIT,
        AFTER_COMPLETION;

        /** Has something called at this moment, and returns what it threw. */
        AtomicReference<Throwable> call(Runnable callback) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                private void call(Moment moment) {
                    try {
                        if (moment == Moment.this) {
                            callback.run();
                        }
                    } catch (Throwable ex) {
                        thrown.set(ex);
                    }
                }

                @Override
                public void beforeCommit(boolean readOnly) {
                    call(BEFORE_COMMIT);
                }

                @Override
                public void afterCommit() {
                    call(AFTER_COMMIT);
                }

                @Override
                public void afterCompletion(int status) {
                    call(AFTER_COMPLETION);
                }
            });
            return thrown;
        }
    }

    /** The application's transactions, which are those of JPA, and transactions of JDBC. */
    private List<Setting> settings() {
        JdbcTransactionManager jdbc = new JdbcTransactionManager(app().bean(DataSource.class));
        TransactionalOperations operations = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class),
                app().bean(DeclaredConsumers.class),
                app().bean(KeptResults.class),
                new StaticListableBeanFactory(Map.of("jdbc", jdbc)));
        operations.afterSingletonsInstantiated();
        return List.of(
                new Setting(transaction(), operations()), new Setting(new TransactionTemplate(jdbc), operations));
    }

    private record Setting(TransactionTemplate transaction, IdempotentOperations operations) {}

    @ParameterizedTest
    @EnumSource(names = "BEFORE_COMMIT", mode = EnumSource.Mode.EXCLUDE)
    void whatIsExecutedAfterACommitHasATransactionOfItsOwn(Moment moment) {
        for (Setting setting : settings()) {
            IdempotentOperations operations = setting.operations();
            AtomicReference<Throwable> thrown = setting.transaction()
                    .execute(status -> moment.call(() -> {
                        assertThatExceptionOfType(IllegalStateException.class)
                                .isThrownBy(() -> operations.execute(id("fails"), () -> {
                                    happen("fails");
                                    throw new IllegalStateException("no");
                                }));
                        operations.execute(id("a"), String.class, () -> {
                            happen("a");
                            return "first";
                        });
                        assertThatExceptionOfType(UnprotectedClaimException.class)
                                .isThrownBy(() -> operations.claim(id("claimed")))
                                .withMessageContaining("has ended");
                        // As a service does that is @Transactional, and joins what has ended.
                        setting.transaction().executeWithoutResult(joined -> {
                            assertThatExceptionOfType(UnprotectedClaimException.class)
                                    .isThrownBy(() -> operations.claim(id("claimed")));
                            operations.execute(id("b"), () -> happen("b"));
                        });
                    }));
            assertThat(thrown.get()).isNull();
            assertThat(effects()).containsExactly("a", "b");
            assertThat(operations.execute(id("a"), String.class, () -> "second").result())
                    .isEqualTo("first");
            assertThat(operations.execute(id("fails"), () -> {}).isDuplicate()).isFalse();
            assertThat(operations.execute(id("claimed"), () -> {}).isDuplicate())
                    .isFalse();
            empty();
        }
    }

    @Test
    void whatIsClaimedRightBeforeACommitIsCommittedWithItAndLeavesNothingElse() {
        for (Setting setting : settings()) {
            AtomicReference<Throwable> thrown = setting.transaction()
                    .execute(status -> Moment.BEFORE_COMMIT.call(() -> {
                        setting.operations().execute(id("a"), () -> happen("a"));
                        setting.operations().claim(id("b"));
                    }));
            assertThat(thrown.get()).isNull();
            assertThat(jdbc().queryForList("select message_id from idempotency_processed", String.class))
                    .containsExactlyInAnyOrder("a", "b");
            assertThat(effects()).containsExactly("a");
            empty();
        }
    }

    @Test
    void ofIdsOfWhichOneIsHeldElsewhereNoneStaysClaimedRightBeforeACommit() throws Exception {
        for (Setting setting : settings()) {
            whileHeld(id("held"), () -> {
                try {
                    setting.transaction()
                            .executeWithoutResult(status -> Moment.BEFORE_COMMIT.call(
                                    () -> setting.operations().claimAll(List.of(id("a"), id("held")))));
                } catch (RuntimeException ex) {
                    // It is refused.
                }
            });
            assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
            empty();
        }
    }

    @Test
    void aTransactionInWhichAnIdWasHeldElsewhereIsCommittedAsAWholeOrFails() throws Exception {
        for (Setting setting : settings()) {
            AtomicReference<RuntimeException> failure = new AtomicReference<>();
            whileHeld(id("held"), () -> {
                try {
                    setting.transaction().executeWithoutResult(status -> {
                        happen("before");
                        assertThatExceptionOfType(ClaimTimeoutException.class)
                                .isThrownBy(() -> setting.operations().claim(id("held")));
                    });
                } catch (RuntimeException ex) {
                    failure.set(ex);
                }
            });
            assertThat(effects()).hasSize((failure.get() != null) ? 0 : 1);
            empty();
        }
    }

    @Test
    void anExecutionIsPartOfTheTransactionThatIsOpenWhicheverManagerOfTheDataSourceHasOpenedIt() {
        JdbcTransactionManager jdbc = new JdbcTransactionManager(app().bean(DataSource.class));
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("jpa", transaction().getTransactionManager());
        beans.registerBeanDefinition(
                "jdbc",
                BeanDefinitionBuilder.genericBeanDefinition(JdbcTransactionManager.class, () -> jdbc)
                        .setPrimary(true)
                        .getBeanDefinition());
        TransactionalOperations operations = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class), app().bean(DeclaredConsumers.class), null, beans);
        for (TransactionTemplate transaction : List.of(transaction(), new TransactionTemplate(jdbc))) {
            transaction.executeWithoutResult(status -> {
                happen("outer");
                operations.execute(id("a"), () -> happen("a"));
                status.setRollbackOnly();
            });
            assertThat(effects()).isEmpty();
            transaction.executeWithoutResult(status -> {
                happen("outer");
                assertThat(operations.execute(id("a"), () -> happen("a")).isDuplicate())
                        .isFalse();
            });
            assertThat(effects()).containsExactly("a", "outer");
            empty();
        }
    }

    @Test
    void anExecutionIsRefusedInATransactionOfAManagerThatIsNotKnown() {
        JdbcTransactionManager unknown = new JdbcTransactionManager(app().bean(DataSource.class));
        new TransactionTemplate(unknown).executeWithoutResult(status -> {
            happen("outer");
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> operations().execute(id("a"), () -> happen("a")))
                    .withMessageContaining("another transaction manager");
        });
        TransactionalOperations ofJdbc = new TransactionalOperations(
                app().bean(ProcessedMessageStore.class),
                app().bean(DeclaredConsumers.class),
                null,
                new StaticListableBeanFactory(Map.of("jdbc", unknown)));
        transaction().executeWithoutResult(status -> {
            happen("outer too");
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> ofJdbc.execute(id("a"), () -> happen("a")))
                    .withMessageContaining("another transaction manager");
            status.setRollbackOnly();
        });
        assertThat(effects()).containsExactly("outer");
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    private <T> List<T> executeGenerically(MessageId id, List<T> result) {
        return operations()
                .execute(id, new ParameterizedTypeReference<List<T>>() {}, () -> {
                    happen("a");
                    return result;
                })
                .result();
    }
}
