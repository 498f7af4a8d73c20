package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.TopicContents;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.aspectj.AspectJExpressionPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.transaction.annotation.Transactional;

/** Aspects of default order, which run between the claim and the method; and listeners that call other listeners. */
@ListenersTest.Application(beans = {AspectsOfListenersIT.Aspects.class, AspectsOfListenersIT.EarlyAdvice.class})
class AspectsOfListenersIT extends ListenersTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                RetriedRecord.class,
                RetriedBatch.class,
                RetriedPoll.class,
                RetriedDespiteCommit.class,
                Hushed.class
            })
    void whatAFailedCallHasWrittenIsNotCommittedWithTheCallThatAnAspectRepeats(Class<? extends Listener> listener) {
        deliver(listener, "1:fails-once");
        assertThat(effects(listener)).containsExactly("fails-once");
        deliver(listener, "1:fails-once");
        assertThat(effects(listener)).containsExactly("fails-once");
        assertThat(this.app.bean(listener).calls()).hasSize(2);
        assertThat(givenUp(listener)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(classes = {Twice.class, Swallowed.class, Skipped.class})
    void anAspectThatCallsTheMethodTwiceOrNotAtAllFailsItsMessage(Class<? extends Listener> listener) {
        deliver(listener, "1:a");
        assertThat(effects(listener)).isEmpty();
        List<ConsumerRecord<String, String>> deadLetters = TopicContents.of(topic(listener) + "-dlt");
        assertThat(deadLetters).extracting(ConsumerRecord::value).containsExactly("a");
        byte[] trace = deadLetters
                .get(0)
                .headers()
                .lastHeader(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)
                .value();
        assertThat(new String(trace, StandardCharsets.UTF_8))
                .contains(UnprotectedCallException.class.getName(), "an aspect between");
    }

    @Test
    void soDoesAResultThatIsCompletedLater() {
        assertDelivered("Future", "1:a", null, "a");
    }

    @Test
    void aListenerThatCallsAnotherOneOrItselfIsRefused() {
        deliver(Caller.class, "1:a");
        assertThat(effects(Caller.class)).containsExactly("a");
        assertThat(this.app.bean(Caller.class).refusals()).hasSize(3).allSatisfy(refusal -> assertThat(refusal)
                .isInstanceOf(UnprotectedCallException.class));
    }

    @Aspect
    static class Aspects {

        @Around("bean(*.Retried*) && execution(* on(..))")
        Object retry(ProceedingJoinPoint call) throws Throwable {
            try {
                return call.proceed();
            } catch (IllegalStateException ex) {
                return call.proceed();
            }
        }

        @Around("bean(*.Twice) && execution(* on(..))")
        Object repeat(ProceedingJoinPoint call) throws Throwable {
            call.proceed();
            return call.proceed();
        }

        @Around("bean(*.Swallowed) && execution(* on(..))")
        Object swallow(ProceedingJoinPoint call) throws Throwable {
            Object result = call.proceed();
            try {
                call.proceed();
            } catch (RuntimeException ex) {
                // Like an aspect for which the first call is sufficient.
            }
            return result;
        }

        @Around("bean(*.Skipped) && execution(* on(..))")
        Object skip(ProceedingJoinPoint call) {
            return null;
        }
    }

    static class EarlyAdvice {

        /** Runs first by its order, and before the claim because it is the application's. */
        @Bean
        static AspectJExpressionPointcutAdvisor hush() {
            AspectJExpressionPointcutAdvisor advisor = new AspectJExpressionPointcutAdvisor();
            advisor.setExpression("bean(*.Hushed) && execution(* on(..))");
            advisor.setAdvice((MethodInterceptor) call -> {
                try {
                    return call.proceed();
                } catch (IllegalStateException ex) {
                    return null;
                }
            });
            advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return advisor;
        }
    }

    @IdempotentListener
    static class RetriedRecord extends OfRecords {}

    @IdempotentListener
    static class RetriedBatch extends OfBatches {}

    @IdempotentListener(transactionPerPoll = "true")
    static class RetriedPoll extends OfRecords {}

    @IdempotentListener
    @Transactional(noRollbackFor = RuntimeException.class)
    static class RetriedDespiteCommit extends OfRecords {}

    @IdempotentListener
    static class Hushed extends OfRecords {}

    @IdempotentListener
    static class Twice extends OfRecords {}

    @IdempotentListener
    static class Swallowed extends OfRecords {}

    @IdempotentListener
    static class Skipped extends OfRecords {}

    static class Future extends Listener {

        @OwnTopic
        @IdempotentListener
        Object on(String payload) {
            happen(payload);
            return new CompletableFuture<>();
        }
    }

    static class Caller extends Listener {

        private final List<Throwable> refusals = new CopyOnWriteArrayList<>();

        @Autowired
        private ObjectProvider<Caller> self;

        @Autowired
        private ObjectProvider<RetriedRecord> other;

        @Autowired
        private ObjectProvider<RetriedBatch> otherOfBatches;

        List<Throwable> refusals() {
            return this.refusals;
        }

        @OwnTopic
        @IdempotentListener
        void on(String payload) {
            attempt(() -> this.other.getObject().on("by hand"));
            attempt(() -> this.otherOfBatches.getObject().on(List.of("by hand")));
            attempt(() -> this.self.getObject().on(payload));
            happen(payload);
        }

        private void attempt(Runnable call) {
            try {
                call.run();
            } catch (RuntimeException ex) {
                this.refusals.add(ex);
            }
        }
    }
}
