package dev.idempotency;

import java.util.Locale;

/** What is looked for before the first message, by the names that settings use, such as {@code not-proxied}. */
public enum Check {

    /** The listener is not called through the proxy that claims. */
    NOT_PROXIED(Level.FAIL, "The listener would run without a claim: every duplicate would be applied."),

    /** The listener has no container that was prepared for it. */
    NOT_REGISTERED(Level.FAIL, "What delivers its messages, if anything does, cannot claim them."),

    /** The annotation stands on something that is no Kafka listener. */
    NO_KAFKA_LISTENER(Level.FAIL, "The annotation protects nothing here: it claims what a Kafka listener receives."),

    /** There is no table for the claims. */
    NO_STORE(Level.FAIL, "The listener would run without a claim: every duplicate would be applied."),

    /** The listener's work goes on after it has returned, or on another thread. */
    ASYNC_LISTENER(
            Level.FAIL,
            "The work would run outside the transaction of the claim: a failure would leave the message claimed and"
                    + " lost, and its offset committed."),

    /** The listener's {@code @Transactional} does not let it share the claim's transaction. */
    TRANSACTION_ATTRIBUTES(Level.FAIL, "Claim and work would not be committed together."),

    /** There is no transaction manager for the listener, or no telling which. */
    TRANSACTION_MANAGER(Level.FAIL, "Without a transaction there is nothing to claim in.", true),

    /** The transaction manager does not manage the database of the claims. */
    TRANSACTION_DATA_SOURCE(
            Level.FAIL, "The claim would not be part of the listener's transaction, so that every message is refused."),

    /** The container opens a database transaction around the listener. */
    CONTAINER_TRANSACTION(
            Level.FAIL,
            "Acknowledgments would take effect, and outcomes be counted, before the container's commit: if that fails,"
                    + " the message is lost."),

    /** The consumer name cannot be stored. */
    CONSUMER_NAME(Level.FAIL, "No message could be claimed under this name.", true),

    /** Several listeners claim under one name. */
    SHARED_CONSUMER_NAME(
            Level.FAIL, "One would eat the other's messages: what one has claimed is a duplicate for the other."),

    /** The name under which messages are claimed is another one after a restart. */
    UNSTABLE_CONSUMER_NAME(
            Level.WARN, "Nothing that was processed before a restart, or by another instance, would be recognised."),

    /** Messages were processed under a name that the consumer no longer has. */
    RENAMED_CONSUMER(Level.FAIL, "None of them would be recognised: a redelivery would be applied a second time."),

    /** The key expression cannot be used. */
    KEY_EXPRESSION(Level.FAIL, "No message would have a key.", true),

    /** The key is another one at the next delivery. */
    UNSTABLE_KEY(Level.FAIL, "No duplicate would ever be recognised."),

    /** Different messages have the same key. */
    AMBIGUOUS_KEY(Level.FAIL, "New messages would be dropped as duplicates of others."),

    /** The Kafka client commits offsets by itself. */
    AUTO_COMMIT(Level.FAIL, "Offsets would be committed before the work: a crash between the two loses messages."),

    /** Offsets stay uncommitted for longer than messages are remembered. */
    LATE_COMMIT(
            Level.WARN,
            "A restart brings every message since the last committed offset again, and those that are no longer"
                    + " remembered would be applied twice."),

    /** Offsets are committed out of order. */
    ASYNC_ACKS(
            Level.FAIL,
            "The consumer stands still at the first message that is dead-lettered: its container waits for an"
                    + " acknowledgment of it that never comes. A message is acknowledged when its transaction has been"
                    + " committed in any case."),

    /** The container takes part in Kafka transactions. */
    KAFKA_TRANSACTION(
            Level.WARN,
            "The database commits first: after a crash between the two commits the message is a duplicate, and what the"
                    + " listener sent to Kafka is lost."),

    /** The listener replies to another topic. */
    REPLY(
            Level.WARN,
            "The reply is sent after the database has committed: after a crash between the two the message is a"
                    + " duplicate, and the reply is never sent."),

    /** Aborted transactional records are read. */
    READ_UNCOMMITTED(
            Level.INFORM, "Records of aborted transactions are delivered, and applied, as if they had been sent."),

    /** Failed messages are dropped. */
    DROPPED_FAILURES(Level.WARN, "A message that fails once too often would be logged and lost."),

    /** Failed batches are dropped. */
    BATCH_ERROR_HANDLER(Level.FAIL, "A batch in which one record fails would be logged and lost, all of it."),

    /** The listener's observation is lost. */
    POLL_OBSERVATION(
            Level.WARN,
            "For the records of a batch Spring Kafka has no observation around the listener: its trace ends."),

    /** Failures are hidden from the container. */
    LISTENER_ERROR_HANDLER(
            Level.WARN,
            "It is called when the transaction has been rolled back: if it returns instead of throwing, the offset is"
                    + " committed and the message lost."),

    /** Some exceptions commit. */
    NO_ROLLBACK(
            Level.WARN,
            "The claim is committed although the listener failed: its retry is a duplicate, and the work is never"
                    + " finished."),

    /** A batch is handed to the listener one by one. */
    BATCH_TO_RECORD(Level.FAIL, "The records of one batch cannot be told apart: only its first call would be claimed."),

    /** A batch is turned into something that its duplicates cannot be taken out of. */
    BATCH_SIGNATURE(Level.FAIL, "Duplicates cannot be taken out of it: they would be applied a second time."),

    /** A listener with retry topics is created when others run already. */
    LATE_RETRY_TOPIC(
            Level.FAIL,
            "Its error handler is set when nothing can stand before it any more: while the database is away, messages"
                    + " would go to the retry topics and be dead-lettered."),

    /** The retention is none. */
    RETENTION_VALUE(Level.FAIL, "Without it there is no telling when a message may be forgotten.", true),

    /** Messages cannot be kept in the inbox. */
    INBOX(Level.FAIL, "What was received could be neither shown nor replayed.", true),

    /** The records of a poll cannot be processed in one transaction. */
    TRANSACTION_PER_POLL(
            Level.FAIL, "What is done for each record would be done before the transaction, or not at all.", true),

    /** Messages are forgotten while they may still be retried. */
    RETENTION_TOO_SHORT(Level.FAIL, "A retry would find its message forgotten, and apply it a second time."),

    /** Messages are forgotten while the topic still holds them. */
    TOPIC_RETENTION(
            Level.WARN, "A rewind, or a group whose offsets expired, would apply again what has been forgotten.");

    private final Level level;
    private final String danger;
    private final boolean indispensable;

    Check(Level level, String danger) {
        this(level, danger, false);
    }

    Check(Level level, String danger, boolean indispensable) {
        this.level = level;
        this.danger = danger;
        this.indispensable = indispensable;
    }

    /** How much its findings matter, unless it is relaxed. */
    public Level level() {
        return this.level;
    }

    /** Why its findings are dangerous. */
    public String danger() {
        return this.danger;
    }

    /** Whether a listener with its findings cannot work at all, so that it cannot be relaxed. */
    public boolean isIndispensable() {
        return this.indispensable;
    }

    /** Its name in settings. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** How much a finding matters, most first. */
    public enum Level {

        /** The application does not start. */
        FAIL,

        /** It is logged as a warning. */
        WARN,

        /** It is logged as information. */
        INFORM
    }

    /**
     * Something that keeps a listener from being protected, or endangers its messages.
     *
     * @param check what it was found by
     * @param where class, method and bean
     * @param what what was found
     * @param remedy how to mend it
     */
    public record Finding(Check check, String where, String what, String remedy) {

        /** What and where, in the form that reports use. */
        public String description() {
            return "[%s] %s%n     %s%n     %s".formatted(this.check, this.where, this.what, this.check.danger());
        }

        @Override
        public String toString() {
            return "[%s] %s: %s %s %s".formatted(this.check, this.where, this.what, this.check.danger(), this.remedy);
        }
    }
}
