package dev.idempotency.redrive;

import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.Page;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of consumers: to be looked at, and to be sent back once their cause is fixed.
 *
 * <p>A dead letter goes to the topic and partition where it stood first, with its key, headers and value, so that it takes
 * the ordinary path: it is processed once, however often it is sent. All groups that read the topic see it. A header counts
 * the rounds, and after some it stays. Up to where all were sent back is remembered by the brokers, as the offsets of a group
 * without members: {@code <consumer group>.redrive.<consumer>}.
 *
 * <p>All methods throw {@link OperatorActionException} if there is no such consumer, or the brokers do not answer.
 */
public interface DeadLetters {

    /** The consumers whose dead letters are known. */
    Set<String> consumers();

    /** The dead-letter topics of a consumer that exist. */
    Set<String> topics(String consumer);

    /**
     * A page of the dead letters that fit the query, by topic and partition, the oldest of each first.
     *
     * @throws IllegalArgumentException if the query continues after something that no page gave
     */
    Page<DeadLetter> find(DeadLetterQuery query);

    /** One dead letter of a consumer with its whole record, or {@code null} if there is none there. */
    @Nullable
    DeadLetterMessage find(String consumer, RecordCoordinates record);

    /**
     * Sends one dead letter back, even if that was done before or it is older than the consumer's retention, and returns
     * when the brokers have it.
     *
     * @return what became of it; {@code null} if there is no such dead letter
     * @throws OperatorActionException also if another redrive of the consumer is under way
     */
    @Nullable
    RedriveReport redrive(String consumer, RecordCoordinates record);

    /**
     * Starts to send back all dead letters of a consumer that are {@linkplain DeadLetterStatus#PENDING pending}: those that died before this moment, are not older
     * than its retention and have not been sent back.
     *
     * @throws OperatorActionException also if the consumer does not recognise what is sent twice, or another redrive is under way
     */
    RedriveReport redriveAll(String consumer);

    /** The same of those with such an exception alone. */
    RedriveReport redriveMatching(String consumer, ExceptionPattern exception);

    /** The redrive of a consumer that runs, or ran last since the start of this instance; {@code null} without one. */
    @Nullable
    RedriveReport lastRedrive(String consumer);

    /** Has the redrive of a consumer end after the dead letter that is being sent; returns whether there is one. */
    boolean cancel(String consumer);
}
