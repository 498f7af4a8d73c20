package dev.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Gives a {@code @KafkaListener} exactly-once effects in its database.
 *
 * <p>The message's id is recorded in the same transaction as the listener's own writes: both are committed, or neither
 * is. A message that has been processed before is acknowledged and not handed to the listener again.
 *
 * <p>Put it on a {@code @KafkaListener} method, on a class (for all its {@code @KafkaListener} and
 * {@code @KafkaHandler} methods), or on your own annotation. On a method it takes precedence over the class.
 *
 * <p>Not guaranteed are effects outside that database, such as e-mails, HTTP calls and records sent to Kafka.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
public @interface IdempotentListener {

    /** Alias for {@link #consumer()}. */
    @AliasFor("consumer")
    String value() default "";

    /**
     * Name under which processed messages are recorded. Two listeners with different names each process the same
     * message once. Placeholders are resolved. Default: {@code <group id>/<Class>.<method>}, or for a class
     * of handlers {@code <group id>/<Class>}; name the consumer to be free to rename these.
     */
    @AliasFor("value")
    String consumer() default "";

    /**
     * SpEL expression for the message's id, which must be the same for every delivery of the message and different for
     * every other message of this consumer. Variables: {@code #record}, {@code #payload}, {@code #headers} (the headers of
     * the Kafka record, as text), {@code #coordinates} (topic with its id, partition and offset: the weak choice, a
     * republished message gets new ones) and the method's arguments by name. Placeholders are resolved. Default: the first header
     * present of {@code idempotency.key.headers}.
     */
    String key() default "";

    /** How messages are recognised. If another attribute does not fit the strategy, the application does not start. */
    DeduplicationStrategy strategy() default DeduplicationStrategy.MESSAGE_ID;

    /**
     * Handling of a message that has the id of another one but another payload, because its producer has used an id
     * twice: {@code "warn"}, {@code "fail"} or {@code "off"}, see {@link OnConflict}. Placeholders are resolved. Default:
     * {@code idempotency.on-conflict}. Only with {@link DeduplicationStrategy#MESSAGE_ID}.
     */
    String onConflict() default "";

    /**
     * For {@link DeduplicationStrategy#UNIQUE_CONSTRAINT}: the unique constraint, or unique index, whose violation shows a duplicate, such
     * as {@code payment_pkey}, or {@code billing.payment_pkey} with its schema. Placeholders are resolved.
     */
    String uniqueConstraint() default "";

    /**
     * SpEL expression for the version of the entity that {@link #key()} names, with {@link DeduplicationStrategy#VERSION}: a whole number
     * or a point in time, which the producer has given to that state. The variables are the same as for {@link #key()}.
     * Placeholders are resolved.
     */
    String version() default "";

    /**
     * SpEL expression for a business key, such as {@code "'customer/' + #payload.customerId"}: listeners, and code that
     * {@linkplain IdempotentOperations#lock locks} it, run one after the other if they name the same key, in all instances. The lock
     * is taken between the claim and the listener, and ends with the transaction. It does not guarantee an order. The variables
     * are the same as for {@link #key()}. Placeholders are resolved. Default: no lock.
     */
    String lock() default "";

    /**
     * Bean name or qualifier of the transaction manager. Placeholders are resolved. Default: the one named by the
     * listener's {@code @Transactional}, or else the application's primary or only one that is not Kafka's.
     */
    String transactionManager() default "";

    /**
     * How long processed messages are remembered, such as {@code 30d}. Placeholders are resolved. Default:
     * {@code idempotency.retention}.
     */
    String retention() default "";

    /**
     * Whether messages are kept in the inbox ({@code "true"} or {@code "false"}): the message as it was received, how often it
     * was attempted, and why it failed. Placeholders are resolved. Default: {@code idempotency.inbox.enabled}.
     */
    String inbox() default "";

    /**
     * Whether a listener that takes one record at a time shares one transaction among all records of a poll ({@code "true"} or
     * {@code "false"}). That is several times faster than a transaction per record. If it cannot, the application does not
     * start. If a record fails, all are redelivered and processed one by one: so what the listener does outside its database
     * may be repeated for messages that did not fail. A batch listener always has one transaction for its batch. Placeholders
     * are resolved. Default: {@code idempotency.transaction-per-poll}, where it can.
     */
    String transactionPerPoll() default "";

    /**
     * Whether a message is claimed together with the commit, in the same round trip, instead of before the listener is called
     * ({@code "true"} or {@code "false"}). The listener may then be called with a duplicate, and two deliveries of one message
     * may run at once: what a duplicate did in the database is undone, and it is acknowledged and counted as one. What it did
     * elsewhere is not undone. For record listeners with {@link DeduplicationStrategy#MESSAGE_ID} on PostgreSQL whose transaction manager is a
     * {@code JdbcTransactionManager}; otherwise the application does not start. Placeholders are resolved. Default:
     * {@code idempotency.claim.at-commit}.
     */
    String claimAtCommit() default "";

    /**
     * Whether the listener's result, which is sent as a reply ({@code @SendTo}, or a request with a reply topic), is kept
     * with the claim, as JSON, and sent again for a duplicate. The record is done when the brokers have the reply. For
     * listeners that take one record at a time and return something.
     */
    boolean storeReply() default false;
}
