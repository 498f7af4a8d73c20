package dev.idempotency.app;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.springframework.core.annotation.AliasFor;
import org.springframework.kafka.annotation.KafkaListener;

/** A listener of a {@link SharedApplicationTest}: its consumer, container, topic and group are named after its kind. */
@Retention(RetentionPolicy.RUNTIME)
@KafkaListener
@IdempotentListener
public @interface OfKind {

    @AliasFor(annotation = IdempotentListener.class, attribute = "consumer")
    String value();

    @AliasFor(annotation = IdempotentListener.class)
    String key() default "";

    @AliasFor(annotation = IdempotentListener.class)
    String inbox() default "";

    @AliasFor(annotation = IdempotentListener.class)
    boolean storeReply() default false;

    @AliasFor(annotation = IdempotentListener.class)
    String retention() default "";

    @AliasFor(annotation = IdempotentListener.class)
    DeduplicationStrategy strategy() default DeduplicationStrategy.MESSAGE_ID;

    @AliasFor(annotation = IdempotentListener.class)
    String transactionPerPoll() default "";

    @AliasFor(annotation = KafkaListener.class)
    String autoStartup() default "";

    @AliasFor(annotation = KafkaListener.class)
    String batch() default "";

    @AliasFor(annotation = KafkaListener.class)
    String containerFactory() default "";

    @AliasFor(annotation = KafkaListener.class)
    String filter() default "";

    @AliasFor(annotation = KafkaListener.class)
    String[] properties() default {};
}
