package dev.idempotency.sample.mishap;

import dev.idempotency.sample.payment.Payment;
import java.io.Serial;
import java.util.Collection;
import java.util.Objects;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.PriorityOrdered;
import org.springframework.kafka.annotation.KafkaListener;

/** Makes mishaps happen after listeners have returned, so that the listeners need no code for them. */
class MishapAdvisor extends DefaultPointcutAdvisor {

    @Serial
    private static final long serialVersionUID = 1L;

    private MishapAdvisor(MethodInterceptor advice) {
        super(AnnotationMatchingPointcut.forMethodAnnotation(KafkaListener.class), advice);
    }

    /** Innermost advice: the mishap is part of the transaction that {@code @IdempotentListener} opens. */
    static MishapAdvisor insideTheTransaction(Mishap mishap, ObjectProvider<Mishaps> mishaps) {
        return new MishapAdvisor(new MishapInterceptor(mishap, mishaps));
    }

    /** Outermost advice: the mishap happens after the commit, and before the container commits the offset. */
    static MishapAdvisor afterTheCommit(Mishap mishap, ObjectProvider<Mishaps> mishaps) {
        return new Outermost(new MishapInterceptor(mishap, mishaps));
    }

    /** {@link PriorityOrdered} advisors come before merely ordered ones. */
    private static final class Outermost extends MishapAdvisor implements PriorityOrdered {

        @Serial
        private static final long serialVersionUID = 1L;

        Outermost(MethodInterceptor advice) {
            super(advice);
        }
    }

    private record MishapInterceptor(Mishap mishap, ObjectProvider<Mishaps> mishaps) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation listener) throws Throwable {
            Object result = listener.proceed();
            String victim =
                    Objects.requireNonNull(listener.getThis()).getClass().getName();
            payments(listener.getArguments())
                    .map(Payment::id)
                    .filter(id -> this.mishaps.getObject().strikes(this.mishap, id, victim))
                    .forEach(this.mishap::happen);
            return result;
        }

        private static Stream<Payment> payments(@Nullable Object[] arguments) {
            return Stream.of(arguments)
                    .flatMap(argument ->
                            (argument instanceof Collection<?> batch) ? batch.stream() : Stream.of(argument))
                    .filter(Payment.class::isInstance)
                    .map(Payment.class::cast);
        }
    }
}
