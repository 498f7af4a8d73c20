package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.BatchRolledBackException;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.BrokenCommits;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;

/** What a container puts around each record is there with one transaction per poll, too. */
class InterceptedPollIT extends OneBatchTest {

    private static final String TRANSACTIONS = "select count(distinct xmin::text) from effect";

    private static final List<String> ONE_ATTEMPT = List.of("idempotency.errors.max-attempts=1");

    @Override
    String listenerType() {
        return "single";
    }

    private static List<String> journal(TestApplication app) {
        return app.bean(Journal.class).entries;
    }

    @Test
    void anInterceptorIsCalledAroundEachRecordAndToldOfItsSuccessWhenThatIsCommitted() {
        try (TestApplication app = startWith(List.of(), Intercepted.class, "1:a", "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(journal(app))
                    .containsExactly(
                            "setup",
                            "intercept 0",
                            "call a",
                            "after 0",
                            "intercept 1",
                            "after 1",
                            "intercept 2",
                            "call b",
                            "after 2",
                            "success 2",
                            "success 1",
                            "success 0");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(app.jdbc().queryForObject(TRANSACTIONS, Integer.class)).isOne();
            assertThat(app.bean(Outcomes.class).processed).hasSize(2);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
        }
    }

    @Test
    void noSuccessIsToldOfThatIsRolledBackWithAnother() {
        try (TestApplication app = startWith(ONE_ATTEMPT, Intercepted.class, "1:a", "2:fails", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(journal(app))
                    .startsWith(
                            "setup",
                            "intercept 0",
                            "call a",
                            "after 0",
                            "intercept 1",
                            "call fails",
                            "after 1",
                            "failure 1 ListenerExecutionFailedException",
                            "failure 0 BatchRolledBackException",
                            "intercept 0",
                            "call a",
                            "success 0",
                            "after 0",
                            "intercept 1",
                            "call fails",
                            "failure 1 ListenerExecutionFailedException",
                            "after 1");
            assertThat(journal(app)).endsWith("intercept 2", "call c", "success 2", "after 2");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("fails");
            assertThat(app.bean(Outcomes.class).failed).hasValue(1);
            assertThat(app.bean(Outcomes.class).processed).hasSize(2);
        }
    }

    @Test
    void theFirstRecordOfAPollThatFailsIsCalledOnceAnAttempt() {
        try (TestApplication app = startWith(ONE_ATTEMPT, Intercepted.class, "1:fails", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(journal(app)).filteredOn("call fails"::equals).hasSize(1);
            assertThat(app.bean(Effects.class).all()).containsExactly("b");
            assertThat(app.bean(Outcomes.class).failed).hasValue(1);
            assertThat(deadLetters()).containsExactly("fails");
        }
    }

    @Test
    void soItIsWhenTheCommitFails() {
        try (TestApplication app = startWith(List.of(), Intercepted.class, "1:a", "2:breaks once", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(journal(app))
                    .filteredOn(entry -> entry.startsWith("failure") || entry.startsWith("success"))
                    .containsExactly(
                            "failure 2 BatchRolledBackException",
                            "failure 1 BatchRolledBackException",
                            "failure 0 BatchRolledBackException",
                            "success 0",
                            "success 1",
                            "success 2");
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "breaks once", "c");
        }
    }

    @Test
    void whatAnInterceptorSkipsIsNotClaimedAndWhatItIdentifiesIs() {
        try (TestApplication app =
                startWith(List.of(), Intercepted.class, ":a", "2:skip", "3:identify", "3:d", "2:e")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "d", "e", "identify");
            assertThat(app.jdbc()
                            .queryForList(
                                    "select message_id from idempotency_processed order by message_id", String.class))
                    .containsExactly("2", "3", "by interceptor 0", "by interceptor 2");
            assertThat(journal(app)).contains("success 1", "after 1").doesNotContain("call skip");
            assertThat(app.jdbc().queryForObject(TRANSACTIONS, Integer.class)).isOne();
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void aRecordThatItsInterceptorFailsAtIsDeadLetteredAlone() {
        try (TestApplication app = startWith(ONE_ATTEMPT, Intercepted.class, "1:a", "2:throw at intercept", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("throw at intercept");
            assertThat(journal(app))
                    .contains("failure 1 IllegalArgumentException")
                    .doesNotContain("success 1");
        }
    }

    @Test
    void anInterceptorThatFailsWhenItIsToldChangesNothing() {
        try (TestApplication app = startWith(
                ONE_ATTEMPT,
                Intercepted.class,
                "1:throw at success",
                "2:throw at after",
                "3:fails, throw at failure",
                "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("d", "throw at after", "throw at success");
            assertThat(deadLetters()).containsExactly("fails, throw at failure");
        }
    }

    @Test
    void aFilterIsAskedAboutTheRecordThatTheInterceptorReturns() {
        try (TestApplication app = startWith(List.of(), FilteredAndIntercepted.class, ":a", "2:identify", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("c");
            assertThat(journal(app)).contains("intercept 0", "success 0", "after 0");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Observed.class, ObservedAndIntercepted.class})
    void eachRecordIsObservedAndNoSuccessThatIsRolledBack(Class<?> listener) {
        List<String> observed =
                List.of("spring.kafka.listener.observation-enabled=true", "idempotency.errors.max-attempts=1");
        try (TestApplication app = startWith(observed, listener, "1:a", "2:fails", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped)
                    .containsExactly(
                            "1 IllegalStateException", "0 IllegalStateException", "0", "1 IllegalStateException", "2");
            assertThat(app.bean(Observations.class).listeners).containsOnly("ledger-0");
            assertThat(app.bean(Observations.class).currentAtCall).containsExactly("0", "1", "0", "1", "2");
        }
    }

    static class Journal {

        final List<String> entries = new CopyOnWriteArrayList<>();
    }

    /** Values of records say what it does. */
    static class TellingInterceptor implements RecordInterceptor<Object, Object> {

        private final List<String> journal;

        TellingInterceptor(Journal journal) {
            this.journal = journal.entries;
        }

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            if (!this.journal.contains("setup")) {
                this.journal.add("setup");
            }
        }

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            tell("intercept", record, "");
            boolean unknown = record.headers().lastHeader("message-id") == null;
            if (unknown || String.valueOf(record.value()).equals("identify")) {
                ConsumerRecord<Object, Object> other = new ConsumerRecord<>(
                        record.topic(), record.partition(), record.offset(), record.key(), record.value());
                other.headers().add("message-id", ("by interceptor " + record.offset()).getBytes());
                return other;
            }
            return String.valueOf(record.value()).equals("skip") ? null : record;
        }

        @Override
        public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            tell("success", record, "");
        }

        @Override
        public void failure(
                ConsumerRecord<Object, Object> record, Exception exception, Consumer<Object, Object> consumer) {
            tell("failure", record, " " + exception.getClass().getSimpleName());
            assertThat(exception)
                    .satisfiesAnyOf(
                            failure -> assertThat(failure).isNotInstanceOf(BatchRolledBackException.class),
                            failure -> assertThat(failure).hasCauseInstanceOf(Exception.class));
        }

        @Override
        public void afterRecord(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            tell("after", record, "");
        }

        private void tell(String what, ConsumerRecord<Object, Object> record, String how) {
            this.journal.add(what + " " + record.offset() + how);
            if (String.valueOf(record.value()).endsWith("throw at " + what)) {
                throw new IllegalArgumentException(what);
            }
        }
    }

    /** Its payloads say what happens. */
    @Import({Effects.class, BrokenCommits.class, Journal.class, Outcomes.class})
    abstract static class Ledger {

        private final Effects effects;
        private final BrokenCommits commits;
        private final Journal journal;
        private boolean broken;

        Ledger(Effects effects, BrokenCommits commits, Journal journal) {
            this.effects = effects;
            this.commits = commits;
            this.journal = journal;
        }

        @KafkaListener(id = "ledger", topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = true)
        void on(String payload) {
            this.journal.entries.add("call " + payload);
            called();
            this.effects.happen(payload);
            if (payload.startsWith("fails")) {
                throw new IllegalStateException(payload);
            }
            if (payload.equals("breaks once") && !this.broken) {
                this.broken = true;
                this.commits.breakCommit();
            }
        }

        void called() {}
    }

    @Import(TellingInterceptor.class)
    static class Intercepted extends Ledger {

        Intercepted(Effects effects, BrokenCommits commits, Journal journal) {
            super(effects, commits, journal);
        }
    }

    @Import(Intercepted.class)
    static class FilteredAndIntercepted {

        @Bean
        static RecordFilterStrategy<Object, Object> ofInterceptor() {
            return record ->
                    new String(record.headers().lastHeader("message-id").value()).startsWith("by");
        }
    }

    static class Observations implements ObservationHandler<KafkaRecordReceiverContext> {

        final List<String> stopped = new CopyOnWriteArrayList<>();
        final List<String> listeners = new CopyOnWriteArrayList<>();
        final List<String> currentAtCall = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(KafkaRecordReceiverContext context) {
            Throwable error = context.getError();
            Throwable cause =
                    (error instanceof RuntimeException && error.getCause() != null) ? error.getCause() : error;
            this.stopped.add(context.getOffset()
                    + ((cause != null) ? " " + cause.getClass().getSimpleName() : ""));
            this.listeners.add(context.getListenerId());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof KafkaRecordReceiverContext;
        }
    }

    @Import(Observations.class)
    static class Observed extends Ledger {

        private final ObservationRegistry registry;
        private final Observations observations;

        Observed(
                Effects effects,
                BrokenCommits commits,
                Journal journal,
                ObservationRegistry registry,
                Observations observations) {
            super(effects, commits, journal);
            this.registry = registry;
            this.observations = observations;
        }

        @Override
        void called() {
            KafkaRecordReceiverContext context = (KafkaRecordReceiverContext)
                    this.registry.getCurrentObservation().getContextView();
            this.observations.currentAtCall.add(context.getOffset());
        }

        @Bean
        static ObservationRegistry observationRegistry() {
            return ObservationRegistry.create();
        }
    }

    @Import({Observed.class, TellingInterceptor.class})
    static class ObservedAndIntercepted {}
}
