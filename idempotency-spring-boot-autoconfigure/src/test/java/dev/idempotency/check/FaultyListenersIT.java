package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Check;
import dev.idempotency.Check.Finding;
import dev.idempotency.FailedChecksException;
import dev.idempotency.app.TestApplication;
import dev.idempotency.check.elsewhere.InheritedListener;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** One application with all faults, started once: each test looks for one of them in its single failure. */
@ExtendWith(OutputCaptureExtension.class)
class FaultyListenersIT {

    private static List<Finding> findings;
    private static List<String> warnings;
    private static String log;

    @BeforeAll
    static void startFaultyApplication(CapturedOutput output) {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            findings = findingsOf(
                    database.jdbcUrl(),
                    List.of(
                            "long.name=" + "x".repeat(300),
                            "group.of-instance=${random.uuid}",
                            "spring.kafka.consumer.group-id=${group.of-instance}"),
                    FaultyListeners.class);
            log = output.getAll();
            warnings = log.lines().filter(line -> line.contains(" WARN ")).toList();
        }
    }

    private static List<Finding> findingsOf(String jdbcUrl, List<String> properties, Class<?> listeners) {
        Throwable failure = catchThrowable(
                () -> TestApplication.start(jdbcUrl, properties, listeners, TestApplication.WithJpa.class)
                        .close());
        return causes(failure)
                .filter(FailedChecksException.class::isInstance)
                .map(FailedChecksException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("It did not fail as expected", failure))
                .findings();
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, cause -> cause != null, Throwable::getCause);
    }

    private static List<Finding> findings(String method) {
        return findings.stream()
                .filter(finding -> finding.where().contains("." + method + "("))
                .toList();
    }

    private static Finding finding(Check check, String method) {
        List<Finding> found = findings(method).stream()
                .filter(finding -> finding.check() == check)
                .toList();
        assertThat(found).as("%s of %s among %s", check, method, findings).hasSize(1);
        return found.get(0);
    }

    private static String warning(Check check, String method) {
        List<String> found = warnings.stream()
                .filter(line -> line.contains("[" + check + "]") && line.contains("." + method + "("))
                .toList();
        assertThat(found).as("%s of %s", check, method).hasSize(1);
        return found.get(0);
    }

    private static void assertClean(String method) {
        assertThat(findings(method)).isEmpty();
        assertThat(warnings).noneMatch(line -> line.contains("." + method + "("));
    }

    /** Shows reviewers the wording of all findings in a diff. {@code -Dfindings.approve=true} writes the file anew. */
    @Test
    void findingsAreWordedAsApproved() throws IOException {
        Path approved = Path.of("src/test/resources/findings.approved.txt");
        String text = findings.stream()
                .map(finding -> "[%s] %s\n  %s\n  %s\n"
                        .formatted(finding.check(), finding.where().split(",")[0], finding.what(), finding.remedy()))
                .distinct()
                .sorted()
                .collect(Collectors.joining("\n"))
                .replaceAll("@[0-9a-f]{4,8}\\b", "@…");
        if (Boolean.getBoolean("findings.approve")) {
            Files.writeString(approved, text);
        }
        assertThat(text).isEqualTo(Files.readString(approved));
    }

    @ParameterizedTest
    @CsvSource({
        "finalClass, The class is final, Remove final from the class",
        "finalMethod, The method is final, Remove final from the method",
        "privateMethod, The method is private, Remove private from the method",
        "staticMethod, The method is static, Remove static from the method",
    })
    void aMethodThatCannotBeProxiedIsFound(String method, String what, String remedy) {
        Finding finding = finding(Check.NOT_PROXIED, method);
        assertThat(finding.what()).isEqualTo(what + ", so that no proxy can come between it and its container.");
        assertThat(finding.remedy()).startsWith(remedy);
    }

    @Test
    void aListenerWhoseProxyWasReplacedIsFound() {
        Finding finding = finding(Check.NOT_PROXIED, "replaced");
        assertThat(finding.where())
                .isEqualTo(FaultyListeners.Replaced.class.getName() + ".replaced(String), bean '"
                        + FaultyListeners.Replaced.class.getName() + "'");
        assertThat(finding.what())
                .startsWith("The bean has no proxy of the application's auto-proxying")
                .contains("a proxy of its own");
        assertThat(finding.remedy()).contains("let proxies be made by advisors");
    }

    @Test
    void aListenerWhoseProxyIsFrozenIsFound() {
        Finding finding = finding(Check.NOT_PROXIED, "frozen");
        assertThat(finding.what())
                .isEqualTo("Its proxy is frozen, so that a call which an aspect repeats would not be noticed.");
        assertThat(finding.remedy()).startsWith("Do not call setFrozen(true)");
    }

    @Test
    void aListenerWhoseProxyIsWithinAnotherOneIsNoFault() {
        assertClean("wrapped");
    }

    @Test
    void aMethodThatAProxyInAnotherPackageCannotOverrideIsFound() {
        Finding finding = finding(Check.NOT_PROXIED, "packagePrivate");
        assertThat(finding.what())
                .startsWith("The method is package-private in " + InheritedListener.class.getName())
                .endsWith("so that no proxy can come between it and its container.");
        assertThat(finding.remedy()).isEqualTo("Make the method protected or public.");
    }

    @Test
    void aFinalMethodBehindAProxyOfItsInterfaceIsFound() {
        assertThat(finding(Check.NOT_PROXIED, "finalBehindInterface").what())
                .contains("that its container's call would pass");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inheritedProtected", "byDefault", "bridged", "generic"})
    void aMethodThatIsInheritedOrOverriddenIsNoFaultWhereItsProxyOverridesIt(String method) {
        assertClean(method);
    }

    @Test
    void aListenerThatIsCreatedTooEarlyIsFound() {
        Finding finding = finding(Check.NOT_REGISTERED, "early");
        assertThat(finding.what()).contains("its bean was created too early (a BeanPostProcessor needs it)");
        assertThat(finding.remedy()).contains("ObjectProvider or @Lazy");
    }

    @ParameterizedTest
    @ValueSource(strings = {"noListener", "handlerWithoutListener", "deadLetters"})
    void anAnnotatedMethodThatIsNoKafkaListenerIsFound(String method) {
        Finding finding = finding(Check.NO_KAFKA_LISTENER, method);
        assertThat(finding.what()).contains("is an @IdempotentListener, but no @KafkaListener");
        assertThat(finding.remedy()).startsWith("Move @IdempotentListener to the method with @KafkaListener");
    }

    @Test
    void anAnnotatedClassWithoutKafkaListenersIsFound() {
        assertThat(findings)
                .filteredOn(finding -> finding.where().startsWith(FaultyListeners.NoListenerInClass.class.getName()))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what())
                        .isEqualTo("The class is an @IdempotentListener, but has no @KafkaListener or @KafkaHandler"
                                + " method."));
    }

    @ParameterizedTest
    @CsvSource({
        "future, The method returns a CompletableFuture, 'Return void, and wait'",
        "task, The method returns a FutureTask, 'Return void, and wait'",
        "publisher, The method returns a Publisher, 'Return void, and wait'",
        "suspend, The method is a suspend function, Remove suspend",
        "async, The method is @Async, Remove @Async",
        "asyncClass, The method is @Async, Remove @Async",
        "inBackground, An AsyncExecutionInterceptor stands before the method, Keep that interceptor from the method",
    })
    void anAsynchronousListenerIsFound(String method, String what, String remedy) {
        Finding finding = finding(Check.ASYNC_LISTENER, method);
        assertThat(finding.what()).startsWith(what);
        assertThat(finding.remedy()).startsWith(remedy);
    }

    @ParameterizedTest
    @CsvSource({
        "requiresNew, Its @Transactional has the propagation REQUIRES_NEW.",
        "notSupported, Its @Transactional has the propagation NOT_SUPPORTED.",
        "never, Its @Transactional has the propagation NEVER.",
        "supports, Its @Transactional has the propagation SUPPORTS.",
        "mandatory, Its @Transactional has the propagation MANDATORY.",
        "readOnly, 'Its @Transactional is readOnly, and a claim is written.'",
        "nested, 'Its @Transactional has the propagation NESTED, but its transaction manager (JpaTransactionManager) has no savepoints.'",
    })
    void anUnsuitableTransactionalIsFound(String method, String what) {
        Finding finding = finding(Check.TRANSACTION_ATTRIBUTES, method);
        assertThat(finding.what()).isEqualTo(what);
        assertThat(finding.remedy()).startsWith("Write @Transactional without");
    }

    @ParameterizedTest
    @CsvSource({
        "adviceRequiresNew, A transaction advice of its proxy has the propagation REQUIRES_NEW.",
        "adviceNotSupported, A transaction advice of its proxy has the propagation NOT_SUPPORTED.",
        "adviceReadOnly, 'A transaction advice of its proxy is readOnly, and a claim is written.'",
        "adviceOfAnotherManager, A transaction advice of its proxy uses another transaction manager",
        "transactionAround, A transaction advice of a proxy stands around the claim",
    })
    void anUnsuitableTransactionAdviceIsFoundWithoutAnAnnotation(String method, String what) {
        Finding finding = finding(Check.TRANSACTION_ATTRIBUTES, method);
        assertThat(finding.what()).startsWith(what);
        assertThat(finding.remedy()).startsWith("Leave the method out of the pointcut");
    }

    @Test
    void aTransactionAdviceThatJoinsTheClaimsTransactionIsNoFault() {
        assertClean("adviceRequired");
    }

    @Test
    void exceptionsThatCommitAreWarnedOf() {
        assertThat(warning(Check.NO_ROLLBACK, "noRollback"))
                .contains("Its @Transactional names exceptions in noRollbackFor.", "Remove noRollbackFor");
    }

    @Test
    void theSameConsumerNameForDifferentTopicsIsFound() {
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "first").what())
                .isEqualTo("Its consumer name 'ledger' is also that of Names.second; this one is for topics [one] in"
                        + " group 'g', the other for topics [two] in group 'g'.");
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "second").remedy())
                .startsWith("Give each a name of its own in @IdempotentListener(consumer = …)");
    }

    @Test
    void theConsumerNameOfADeclaredConsumerIsFound() {
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "declaredName").what())
                .contains("'declared'", "IdempotentConsumer");
    }

    @Test
    void theSameConsumerNameInDifferentGroupsIsFound() {
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "oneGroup").what()).contains("'audit'", "Names.anotherGroup");
    }

    @Test
    void theSameConsumerNameForTheSamePartitionsIsFoundAndForOthersIsNoFault() {
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "onePartition").what()).contains("Names.samePartition");
        assertThat(finding(Check.SHARED_CONSUMER_NAME, "samePartition").what()).contains("Names.onePartition");
        assertClean("otherPartition");
    }

    @Test
    void aConsumerNameThatIsTooLongIsFound() {
        Finding finding = finding(Check.CONSUMER_NAME, "tooLong");
        assertThat(finding.what()).contains("xxx' has 300 characters, but at most ");
        assertThat(finding.remedy()).isEqualTo("Name a shorter one in @IdempotentListener(consumer = …).");
    }

    @Test
    void aPlaceholderThatIsNotResolvedIsFound() {
        Finding finding = finding(Check.CONSUMER_NAME, "unresolved");
        assertThat(finding.what()).contains("nowhere.set");
        assertThat(finding.remedy()).startsWith("Set the property");
    }

    @ParameterizedTest
    @CsvSource({
        "randomGroup, is made of a group id that is random",
        "randomGroupElsewhere, is made of a group id that is random",
        "randomGroupOfAll, is made of a group id that is random",
        "randomName, is random",
    })
    void aRandomConsumerNameIsWarnedOf(String method, String what) {
        assertThat(warning(Check.UNSTABLE_CONSUMER_NAME, method))
                .contains(what, "Name the consumer in @IdempotentListener");
    }

    @ParameterizedTest
    @CsvSource({
        "unparseable, The key expression '#payload.[' does not parse",
        "unknownVariable, 'The key expression ''#order.id'' names the variable #order, but there are only'",
        "unknownFunction, 'The key expression ''#hash(#payload)'' calls the function #hash, but there is none'",
        "rootKey, 'The key expression ''#root'' names the variable #root, but there are only'",
        "withoutVariable, 'The key expression ''order.id + ''/'' + #order'' reads ''order'' of nothing'",
        "unknownBean, 'The key expression ''@nobody.keyOf(#payload)'' names the bean ''nobody'', but there is none'",
    })
    void aKeyExpressionThatCannotBeUsedIsFound(String method, String what) {
        Finding finding = finding(Check.KEY_EXPRESSION, method);
        assertThat(finding.what()).startsWith(what);
        assertThat(finding.remedy()).isEqualTo("Correct the expression in @IdempotentListener(key = …).");
    }

    @ParameterizedTest
    @CsvSource({
        "messageId, id or timestamp",
        "messageTimestamp, id or timestamp",
        "headersId, id or timestamp",
        "idHeader, the header 'id'",
        "deliveryAttempt, the header 'kafka_deliveryAttempt'",
        "recordDeliveryAttempt, 'kafka_deliveryAttempt'",
        "randomKey, randomUUID(",
        "recordKey, #record' as a whole",
        "acknowledgmentKey, #acknowledgment' as a whole",
    })
    void aKeyThatChangesBetweenDeliveriesIsFound(String method, String part) {
        Finding finding = finding(Check.UNSTABLE_KEY, method);
        assertThat(finding.what()).contains(part, "which is another one at every delivery");
        assertThat(finding.remedy()).startsWith("Take what the producer has given the message");
    }

    @Test
    void aKeyThatAllMessagesShareIsFound() {
        assertThat(finding(Check.AMBIGUOUS_KEY, "constantKey").what()).contains("is the same for all messages");
        assertThat(finding(Check.AMBIGUOUS_KEY, "offsetKey").what()).contains("the offset without the partition");
        assertThat(finding(Check.AMBIGUOUS_KEY, "timestampKey").what())
                .contains("uses nothing of the message but its timestamp, which others have as well");
    }

    @Test
    void aVersionThatIsNotOfTheStateIsFound() {
        assertThat(finding(Check.UNSTABLE_KEY, "versionOfTheClock").what())
                .contains("Its version expression 'T(java.time.Instant).now()' uses 'now('");
        assertThat(finding(Check.AMBIGUOUS_KEY, "versionOfTheRecord").what())
                .contains("uses '#record.timestamp', which is of the record and not of the state in it");
        assertThat(finding(Check.UNSTABLE_KEY, "versionOfTheClockWithBlanks").what())
                .contains("uses 'now ('");
        assertThat(Stream.of("ByAnotherName", "ByItsMetadata", "ByItsHeader", "ByAllItsHeaders")
                        .map(how -> finding(Check.AMBIGUOUS_KEY, "versionOfTheRecord" + how)
                                .what()))
                .satisfiesExactly(
                        what -> assertThat(what).contains("uses '#order . timestamp', which is of the record"),
                        what -> assertThat(what).contains("uses '#about.offset', which is of the record"),
                        what -> assertThat(what).contains("uses '#at', which is of the record"),
                        what -> assertThat(what).contains("uses 'kafka_offset', which is of the record"));
        assertThat(finding(Check.UNSTABLE_KEY, "versionOfAClock").what()).contains("uses 'java.time.Clock'");
        assertThat(finding(Check.UNSTABLE_KEY, "versionOfAClockBean").what()).contains("uses '@systemClock.millis('");
        assertThat(finding(Check.UNSTABLE_KEY, "versionOfACalendar").what()).contains("getInstance(");
        assertThat(finding(Check.AMBIGUOUS_KEY, "constantVersion").remedy())
                .startsWith("Take what the producer has given the state");
        assertThat(finding(Check.KEY_EXPRESSION, "unknownVersion").what())
                .startsWith("The version expression '#order.version' names the variable #order");
        assertClean("soundVersion");
    }

    @Test
    void whatDoesNotGoWithVersionsIsFound() {
        assertThat(finding(Check.STRATEGY, "versionOfAnId").remedy())
                .isEqualTo("Remove it, or state strategy = Strategy.VERSION.");
        assertThat(findings("versionOfNothing"))
                .filteredOn(finding -> finding.check() == Check.STRATEGY)
                .extracting(Finding::what)
                .satisfiesExactlyInAnyOrder(
                        what -> assertThat(what).contains("nothing says where they are"),
                        what -> assertThat(what).contains("nothing says which it is"),
                        what -> assertThat(what).startsWith("inbox = \"true\" does not go with"),
                        what -> assertThat(what).startsWith("keepReply = true does not go with"));
    }

    @Test
    void aKeyOfThePayloadAndHeadersOfTheRecordIsNoFault() {
        assertClean("stableKey");
    }

    @Test
    void autoCommitIsFound() {
        Finding finding = finding(Check.AUTO_COMMIT, "autoCommit");
        assertThat(finding.what()).isEqualTo("Its consumer has enable.auto.commit=true.");
        assertThat(finding.remedy()).startsWith("Set spring.kafka.consumer.enable-auto-commit=false");
    }

    @Test
    void manualAcknowledgmentWithNothingToAcknowledgeWithIsFound() {
        Finding finding = finding(Check.NO_ACKNOWLEDGMENT, "neverAcknowledged");
        assertThat(finding.what()).endsWith("but it takes no Acknowledgment.");
        assertThat(finding.remedy()).startsWith("Add a parameter of type Acknowledgment");
    }

    @Test
    void partitionsAssignedByHandWithoutAGroupAreFound() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            assertThat(findingsOf(database.jdbcUrl(), List.of(), FaultyListeners.Ungrouped.class))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.check()).isEqualTo(Check.NO_ACKNOWLEDGMENT);
                        assertThat(finding.remedy()).startsWith("Add a groupId");
                    });
        }
    }

    @Test
    void acknowledgmentsOutOfOrderAreFound() {
        Finding finding = finding(Check.ASYNC_ACKS, "asyncAcks");
        assertThat(finding.what()).isEqualTo("Its container has asyncAcks.");
        assertThat(finding.remedy()).startsWith("Remove setAsyncAcks(true)");
    }

    @Test
    void aContainerThatOpensTransactionsIsFound() {
        assertThat(finding(Check.CONTAINER_TRANSACTION, "containerTransaction").what())
                .startsWith("Its container has the transaction manager ");
        assertThat(finding(Check.CONTAINER_TRANSACTION, "transactionAdvice").remedy())
                .startsWith("Remove it from setAdviceChain(…)");
    }

    @ParameterizedTest
    @CsvSource({
        "LATE_COMMIT, count, COUNT commits after 500 messages, COUNT_TIME",
        "LATE_COMMIT, time, 'TIME commits every 8d, but messages are remembered for 7d', Lower spring.kafka",
        "REPLY, sendTo, Its result is sent to another topic by @SendTo., outbox",
        "REPLY, reply, It returns a String, outbox",
        "DROPPED_FAILURES, dropping, error handler has no recoverer, new DefaultErrorHandler(new DeadLetterPub",
        "DROPPED_FAILURES, logging, error handler has no recoverer, new DefaultErrorHandler(new DeadLetterPub",
        "LISTENER_ERROR_HANDLER, swallowing, It has a KafkaListenerErrorHandler., Remove @KafkaListener(errorHandler",
    })
    void whatEndangersMessagesIsWarnedOf(Check check, String method, String what, String remedy) {
        assertThat(warning(check, method)).contains(what, remedy);
        assertThat(findings(method)).isEmpty();
    }

    @Test
    void anErrorHandlerThatRecoversOrNeverGivesUpIsNoFault() {
        assertClean("recovering");
        assertClean("endless");
    }

    @Test
    void aRecordListenerBehindABatchContainerIsFound() {
        Finding finding = finding(Check.BATCH_TO_RECORD, "batchToRecord");
        assertThat(finding.what()).isEqualTo("Its container is a batch container with a BatchToRecordAdapter.");
        assertThat(finding.remedy()).startsWith("Let the method take a List");
        assertClean("batch");
    }

    @ParameterizedTest
    @CsvSource({
        "handlerOfSomePerPoll, Not all @KafkaHandler methods of its class are protected, Put @IdempotentListener on the class",
        "handlerOfOnePerPoll, differ in @IdempotentListener, Put one @IdempotentListener on the class",
        "handlerOfTimesPerPoll, different transaction managers or attributes, Put one @Transactional on the class",
        "manualAckPerPoll, acknowledgment mode MANUAL, '@KafkaListener(ackMode = \"BATCH\")'",
        "interceptedPerPoll, has a RecordInterceptor, Remove the RecordInterceptor",
        "textKeyPerPoll, needs more than the record, 'Take it from #record, #headers'",
        "argumentPerPoll, needs more than the record, 'Take it from #record, #headers'",
        "replyPerPoll, It returns a String, Return void",
        "retryTopicsPerPoll, It has retry topics, Remove @RetryableTopic",
        "noRollbackPerPoll, noRollbackFor, Remove noRollbackFor",
        "attemptsPerPoll, counts delivery attempts, Remove setDeliveryAttemptHeader(true)",
        "advisedPerPoll, an advice chain, Remove setAdviceChain",
    })
    void aListenerThatCannotHaveOneTransactionPerPollIsFound(String method, String what, String remedy) {
        Finding finding = finding(Check.TRANSACTION_PER_POLL, method);
        assertThat(finding.what()).contains(what);
        assertThat(finding.remedy()).contains(remedy, "transactionPerPoll");
    }

    @ParameterizedTest
    @CsvSource({
        "keptNothing, It returns nothing, Return the reply",
        "keptOfBatch, It takes several records, one record at a time",
        "keptOfPoll, It takes several records, one record at a time",
        "keptAnything, does not say as what, a class of its own",
        "keptMessage, whose headers are not kept, Return its payload",
    })
    void aListenerWhoseRepliesCannotBeKeptIsFound(String method, String what, String remedy) {
        Finding finding = finding(Check.KEEP_REPLY, method);
        assertThat(finding.what()).contains(what);
        assertThat(finding.remedy()).contains(remedy, "keepReply");
    }

    @ParameterizedTest
    @CsvSource({
        "offsetsWithKey, key = \"#payload\", Remove it",
        "offsetsWithRetention, retention = \"30d\", Remove it",
        "offsetsWithInbox, a replay is another record, Remove it",
        "offsetsWithReply, keepReply = true, Strategy.MESSAGE_ID",
        "offsetsWithRetryTopics, each attempt is another record, Strategy.MESSAGE_ID",
        "offsetsWithConflicts, conflicts = OnConflict.FAIL, Remove it",
        "versionsWithConflicts, two states with one version, Remove it",
        "constraintWithConflicts, conflicts = OnConflict.WARN, Remove it",
        "versionOfNoText, nothing says where they are, State version",
        "versionOfNoEntity, nothing says which it is, State key",
        "constraintOfNoText, does not say which constraint, Name it",
    })
    void whatDoesNotGoWithItsStrategyIsFound(String method, String what, String remedy) {
        List<Finding> found = findings(method).stream()
                .filter(finding -> finding.check() == Check.STRATEGY)
                .distinct()
                .toList();
        assertThat(found).as("%s", findings(method)).singleElement().satisfies(finding -> {
            assertThat(finding.what()).contains(what);
            assertThat(finding.remedy()).contains(remedy);
        });
    }

    /** At whichever of the two is looked at second: reflection has no order. */
    @Test
    void twoStrategiesOfOneConsumerAreFound() {
        assertThat(Stream.of("offsetsBesideIds", "idsBesideOffsets").flatMap(method -> findings(method).stream()))
                .filteredOn(finding -> finding.check() == Check.STRATEGY)
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.what()).contains("Strategy.MESSAGE_ID", "Strategy.OFFSET");
                    assertThat(finding.remedy()).contains("State one strategy");
                });
    }

    @Test
    void offsetsAreNoFault() {
        assertClean("offsets");
        assertClean("offsetsWithoutText");
    }

    @Test
    void aReplyThatIsKeptIsNoFault() {
        assertThat(findings("keptReply")).isEmpty();
        assertThat(warnings).noneMatch(line -> line.contains("keptReply"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "perPoll",
                "batchPerPoll",
                "payloadKeyPerPoll",
                "argumentKeyPerPoll",
                "recordAckPerPoll",
                "observedPerPoll",
                "handlerPerPoll"
            })
    void aListenerWithOneTransactionPerPollIsNoFault(String method) {
        assertClean(method);
    }

    @ParameterizedTest
    @ValueSource(strings = {"recordErrorsPerPoll", "recordErrorsOfBatch"})
    void anErrorHandlerOfSingleRecordsIsFoundWhereRecordsComeInBatches(String method) {
        Finding finding = finding(Check.BATCH_ERROR_HANDLER, method);
        assertThat(finding.what()).contains("does not implement handleBatch");
        assertThat(finding.remedy()).startsWith("Use a DefaultErrorHandler");
        assertClean("recordErrors");
    }

    @Test
    void aConstraintThatIsNotNamedNotThereOrNotAskedForIsFound() {
        assertThat(finding(Check.STRATEGY, "constraintUnnamed").remedy())
                .contains("uniqueConstraint = \"payment_pkey\"");
        assertThat(finding(Check.STRATEGY, "constraintUnused").what())
                .isEqualTo("uniqueConstraint = \"payment_pkey\" has no effect with strategy = Strategy.MESSAGE_ID.");
        assertThat(finding(Check.STRATEGY, "constraintMissing").what())
                .contains("There is no unique constraint or index idempotency_processed_key")
                .contains("idempotency_processed_pkey");
        assertClean("constrained");
    }

    @Test
    void aConstraintIsRefusedOnADatabaseThatDoesNotNameIt() {
        assertConstraintRefused("jdbc:h2:mem:constraints;DB_CLOSE_DELAY=-1");
    }

    @Test
    void aConstraintIsRefusedWhereTheDriverRollsFailuresBack() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            assertConstraintRefused(database.jdbcUrl() + "&autosave=always");
        }
    }

    private static void assertConstraintRefused(String jdbcUrl) {
        assertThat(findingsOf(jdbcUrl, List.of(), FaultyListeners.Constrained.class))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.check()).isEqualTo(Check.STRATEGY);
                    assertThat(finding.what()).startsWith("Strategy.UNIQUE_CONSTRAINT needs PostgreSQL");
                    assertThat(finding.remedy()).isEqualTo("Use the default, Strategy.MESSAGE_ID.");
                });
    }

    @Test
    void whatDoesNotGoWithAConstraintIsFound() {
        assertThat(findings("constraintAndMore"))
                .filteredOn(finding -> finding.check() == Check.STRATEGY)
                .extracting(finding -> finding.what().split(" does not go with ")[0])
                .containsExactlyInAnyOrder(
                        "key = \"#payload\"",
                        "retention = \"1d\"",
                        "inbox = \"true\"",
                        "keepReply = true",
                        "noRollbackFor",
                        "propagation = NESTED");
    }

    @Test
    void aRetentionThatIsNoDurationIsFound() {
        assertThat(finding(Check.RETENTION_VALUE, "noDuration").what())
                .isEqualTo("The retention 'soon' is no duration.");
        assertThat(finding(Check.RETENTION_VALUE, "beyondMeasure").what())
                .isEqualTo("@IdempotentListener(retention = …) must be at most 36500d, but is 60000d.");
    }

    @ParameterizedTest
    @CsvSource({
        "none, 'Its messages are remembered for 0s, which is not at all.'",
        "shorterThanBackOff, 'Its messages are remembered for 9s, but their retries can go on for 10s.'",
        "shorterThanRetryTopics, 'Its messages are remembered for 2h, but their retries can go on for 3h.'",
    })
    void aRetentionThatRetriesOutliveIsFound(String method, String what) {
        Finding finding = finding(Check.RETENTION_TOO_SHORT, method);
        assertThat(finding.what()).isEqualTo(what);
        assertThat(finding.remedy()).contains("idempotency.retention");
    }

    @Test
    void allFaultsOfOneListenerAreToldTogether() {
        assertThat(findings("several").stream().map(Finding::check))
                .containsExactlyInAnyOrder(
                        Check.KEY_EXPRESSION,
                        Check.RETENTION_VALUE,
                        Check.TRANSACTION_MANAGER,
                        Check.NOT_PROXIED,
                        Check.ASYNC_LISTENER,
                        Check.AUTO_COMMIT);
    }

    @Test
    void theFailureIsAnalyzedForTheReader() {
        assertThat(log)
                .contains("APPLICATION FAILED TO START", "@IdempotentListener cannot keep its promise:")
                .contains("[auto-commit] " + FaultyListeners.Containers.class.getName() + ".autoCommit(String), bean '")
                .contains("Offsets would be committed before the work: a crash between the two loses messages.")
                .contains("     See docs/checks.md#auto-commit" + System.lineSeparator())
                .contains("Set spring.kafka.consumer.enable-auto-commit=false")
                .contains("To start all the same, with a warning: idempotency.relaxed-checks=");
        assertThat(log.lines().filter(line -> line.contains("relaxed-checks=")))
                .noneMatch(line -> line.contains("key-expression"));
    }
}
