package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Aspects between the claim and the method, of the order that aspects have by default; and listeners that call others. */
class AspectsOfListenersIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(
                1,
                "record",
                "batch",
                "poll",
                "despite",
                "twice",
                "swallowed",
                "skipped",
                "caller",
                "proxied",
                "hushed",
                "hushed-skipped",
                "repeated-around",
                "future");
        start(
                Listeners.class,
                "idempotency.errors.initial-interval=10ms",
                "idempotency.errors.max-interval=20ms",
                "idempotency.errors.max-attempts=3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"record", "batch", "poll", "despite", "proxied", "hushed"})
    void whatAFailedCallHasWrittenIsNotCommittedWithTheCallThatAnAspectRepeats(String kind) {
        send(kind, kind + " fails once");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " fails once");
        assertThat(this.app.bean(Listeners.class).callsWith(kind + " fails once"))
                .isEqualTo(2);
        assertThat(deadLetters(kind)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"twice", "swallowed", "skipped"})
    void anAspectThatCallsTheMethodTwiceOrNotAtAllFailsItsMessage(String kind) {
        send(kind, kind + " a");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).isEmpty();
        List<ConsumerRecord<String, String>> deadLetters = TopicContents.of(topic(kind) + "-dlt");
        assertThat(deadLetters).extracting(ConsumerRecord::value).containsExactly(kind + " a");
        assertThat(header(deadLetters.get(0), KafkaHeaders.DLT_EXCEPTION_STACKTRACE))
                .contains(UnprotectedListenerException.class.getName(), "Listeners." + kind, "an aspect between");
    }

    @Test
    void anAspectAroundTheClaimThatDoesNotCallFailsItsMessage() {
        send("hushed-skipped", "hushed-skipped a");
        awaitCaughtUp("hushed-skipped");
        assertThat(effectsOf("hushed-skipped")).isEmpty();
        assertThat(deadLetters("hushed-skipped")).containsExactly("hushed-skipped a");
    }

    /** As Spring's {@code @Retryable} does. */
    @Test
    void anAspectAroundTheClaimMayRepeatIt() {
        send("repeated-around", "repeated-around fails once", "repeated-around fails once");
        awaitCaughtUp("repeated-around");
        assertThat(effectsOf("repeated-around")).containsExactly("repeated-around fails once");
        assertThat(this.app.bean(Listeners.class).callsWith("repeated-around fails once"))
                .isEqualTo(2);
        assertThat(deadLetters("repeated-around")).isEmpty();
    }

    /** Start-up checks see no more than that the method returns an object. */
    @Test
    void aResultThatIsCompletedLaterFailsItsMessage() {
        send("future", "future a");
        awaitCaughtUp("future");
        assertThat(effectsOf("future")).isEmpty();
        assertThat(deadLetters("future")).containsExactly("future a");
    }

    @Test
    void aListenerThatCallsAnotherOneOrItselfIsRefused() {
        send("caller", "caller a");
        awaitCaughtUp("caller");
        assertThat(effectsOf("caller")).containsExactly("caller a");
        assertThat(this.app.bean(Caller.class).refusals()).hasSize(4).allSatisfy(refusal -> assertThat(refusal)
                .isInstanceOf(UnprotectedListenerException.class));
    }

    private List<String> deadLetters(String kind) {
        return TopicContents.values(topic(kind) + "-dlt");
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Retried {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface Twice {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface Swallowed {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface Skipped {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface Hushed {

        boolean skips() default false;
    }

    @Aspect
    static class Aspects {

        @Around("@annotation(dev.idempotency.listener.AspectsOfListenersIT.Retried)")
        Object retry(ProceedingJoinPoint call) throws Throwable {
            try {
                return call.proceed();
            } catch (IllegalStateException ex) {
                return call.proceed();
            }
        }

        @Around("@annotation(dev.idempotency.listener.AspectsOfListenersIT.Twice)")
        Object repeat(ProceedingJoinPoint call) throws Throwable {
            call.proceed();
            return call.proceed();
        }

        @Around("@annotation(dev.idempotency.listener.AspectsOfListenersIT.Swallowed)")
        Object swallow(ProceedingJoinPoint call) throws Throwable {
            Object result = call.proceed();
            try {
                call.proceed();
            } catch (RuntimeException ex) {
                // The first call went well, after all.
            }
            return result;
        }

        @Around("@annotation(dev.idempotency.listener.AspectsOfListenersIT.Skipped)")
        Object skip(ProceedingJoinPoint call) {
            return null;
        }
    }

    @Component
    @EnableResilientMethods
    @Import({Effects.class, Aspects.class, Caller.class})
    static class Listeners {

        private final Map<String, Integer> calls = new ConcurrentHashMap<>();
        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        /** A proxy of the application's own, which the one that claims is put around. */
        @Bean
        static Proxied proxied(ObjectProvider<Listeners> listeners) {
            ProxyFactory proxy = new ProxyFactory(new Proxied(listeners));
            proxy.setProxyTargetClass(true);
            proxy.addAdvice((MethodInterceptor) call -> {
                try {
                    return ((ProxyMethodInvocation) call).invocableClone().proceed();
                } catch (IllegalStateException ex) {
                    return call.proceed();
                }
            });
            return (Proxied) proxy.getProxy();
        }

        /** Before all others by its order, and before the claim, as it is the application's. */
        @Bean
        static DefaultPointcutAdvisor hush() {
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                    AnnotationMatchingPointcut.forMethodAnnotation(Hushed.class), (MethodInterceptor) call -> {
                        try {
                            return call.getMethod().getAnnotation(Hushed.class).skips() ? null : call.proceed();
                        } catch (IllegalStateException ex) {
                            return null;
                        }
                    });
            advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return advisor;
        }

        int callsWith(String payload) {
            return this.calls.get(payload);
        }

        void process(String payload) {
            this.effects.happen(payload);
            if (this.calls.merge(payload, 1, Integer::sum) == 1 && payload.endsWith("fails once")) {
                throw new IllegalStateException("the first call fails");
            }
        }

        @KafkaListener(topics = "record${suffix}", groupId = "record${suffix}")
        @IdempotentListener
        @Retried
        void record(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "batch${suffix}", groupId = "batch${suffix}", batch = "true")
        @IdempotentListener
        @Retried
        void batch(List<String> payloads) {
            payloads.forEach(this::process);
        }

        @KafkaListener(topics = "poll${suffix}", groupId = "poll${suffix}")
        @IdempotentListener(transactionPerPoll = "true")
        @Retried
        void poll(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "despite${suffix}", groupId = "despite${suffix}")
        @IdempotentListener
        @Transactional(noRollbackFor = RuntimeException.class)
        @Retried
        void despite(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "future${suffix}", groupId = "future${suffix}")
        @IdempotentListener("future")
        Object future(String payload) {
            process(payload);
            return new CompletableFuture<>();
        }

        @KafkaListener(topics = "twice${suffix}", groupId = "twice${suffix}")
        @IdempotentListener
        @Twice
        void twice(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "swallowed${suffix}", groupId = "swallowed${suffix}")
        @IdempotentListener
        @Swallowed
        void swallowed(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "skipped${suffix}", groupId = "skipped${suffix}")
        @IdempotentListener
        @Skipped
        void skipped(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "hushed${suffix}", groupId = "hushed${suffix}")
        @IdempotentListener
        @Hushed
        void hushed(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "hushed-skipped${suffix}", groupId = "hushed-skipped${suffix}")
        @IdempotentListener
        @Hushed(skips = true)
        void hushedSkipped(String payload) {
            process(payload);
        }

        @KafkaListener(topics = "repeated-around${suffix}", groupId = "repeated-around${suffix}")
        @IdempotentListener
        @Retryable(delay = 1)
        void repeatedAround(String payload) {
            process(payload);
        }
    }

    static class Proxied {

        private final ObjectProvider<Listeners> listeners;

        Proxied(ObjectProvider<Listeners> listeners) {
            this.listeners = listeners;
        }

        @KafkaListener(topics = "proxied${suffix}", groupId = "proxied${suffix}")
        @IdempotentListener
        void on(String payload) {
            this.listeners.getObject().process(payload);
        }
    }

    @Component
    static class Caller {

        private final List<Throwable> refusals = new CopyOnWriteArrayList<>();
        private final Effects effects;
        private final Listeners others;
        private final ObjectProvider<Caller> self;

        Caller(Effects effects, Listeners others, ObjectProvider<Caller> self) {
            this.effects = effects;
            this.others = others;
            this.self = self;
        }

        List<Throwable> refusals() {
            return this.refusals;
        }

        @KafkaListener(topics = "caller${suffix}", groupId = "caller${suffix}")
        @IdempotentListener
        void on(String payload) {
            attempt(() -> this.others.record("record by hand"));
            attempt(() -> this.others.batch(List.of("batch by hand")));
            attempt(() -> this.self.getObject().on(payload));
            attempt(() -> this.self.getObject().other(payload));
            this.effects.happen(payload);
        }

        @KafkaListener(topics = "other${suffix}", groupId = "other${suffix}", autoStartup = "false")
        @IdempotentListener
        void other(String payload) {
            this.effects.happen("caller other");
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
