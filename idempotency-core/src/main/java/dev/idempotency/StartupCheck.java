package dev.idempotency;

import java.util.Locale;

/** Start-up checks, by the names that settings use, such as {@code not-proxied}. See {@code docs/checks.md}. */
public enum StartupCheck {
    NOT_PROXIED(Level.FAIL, "The listener would run without a claim: every duplicate would be applied."),
    NOT_REGISTERED(Level.FAIL, "What delivers its messages, if anything does, cannot claim them."),
    NO_KAFKA_LISTENER(Level.FAIL, "The annotation protects nothing here: it claims what a Kafka listener receives."),
    NO_STORE(Level.FAIL, "The listener would run without a claim: every duplicate would be applied."),
    ASYNC_LISTENER(
            Level.FAIL,
            "The work would run outside the claim's transaction: what fails would stay claimed, and be lost."),
    TRANSACTION_ATTRIBUTES(Level.FAIL, "Claim and work would not be committed together."),
    TRANSACTION_MANAGER(Level.FAIL, "The claim and the work of the listener need one transaction.", true),
    TRANSACTION_DATA_SOURCE(
            Level.FAIL, "The claim would not be part of the listener's transaction, so that every message is refused."),
    ROUTING_DATA_SOURCE(
            Level.FAIL,
            "The tables are in one of these places alone: in the others claims would fail, or never be removed."),
    CONTAINER_TRANSACTION(
            Level.FAIL, "Messages would be acknowledged before the container's commit: if that fails, they are lost."),
    CONSUMER_NAME(Level.FAIL, "No message could be claimed under this name.", true),
    SHARED_CONSUMER_NAME(
            Level.FAIL, "One would take the other's messages: what one has claimed is a duplicate for the other."),
    SHARED_TOPIC(Level.WARN, "Each message reaches only one of them."),
    UNSTABLE_CONSUMER_NAME(
            Level.WARN, "Nothing that was processed before a restart, or by another instance, would be recognised."),
    KEY_EXPRESSION(Level.FAIL, "No message would have a key, or a version.", true),
    UNSTABLE_KEY(Level.FAIL, "No duplicate would ever be recognised."),
    AMBIGUOUS_KEY(Level.FAIL, "New messages would be dropped as duplicates of others."),
    AUTO_COMMIT(Level.FAIL, "Offsets would be committed before the work: a crash between the two loses messages."),
    NO_ACKNOWLEDGMENT(Level.FAIL, "Every message would fail, as it could not be acknowledged."),
    ASYNC_ACKS(
            Level.FAIL, "The consumer stops at its first dead letter, which is never acknowledged to its container."),
    REPLY(
            Level.WARN,
            "After a crash between commit and reply the message is a duplicate, and the reply is never sent."),
    CONSUMER_FACTORY(
            Level.FAIL,
            "The received bytes could not be stored for dead letters, and an unreadable record would block its partition.",
            true),
    DROPPED_FAILURES(Level.WARN, "A message that fails once too often would be logged and lost."),
    BATCH_ERROR_HANDLER(Level.FAIL, "A batch in which one record fails would be logged and lost, all of it."),
    LISTENER_ERROR_HANDLER(
            Level.WARN,
            "If it returns, after the rollback, instead of throwing, the offset is committed and the message lost."),
    NO_ROLLBACK(
            Level.WARN,
            "The claim of a failed message is committed: its retry is a duplicate, and never finishes the work."),
    BATCH_SIGNATURE(Level.FAIL, "Duplicates cannot be taken out of it: they would be applied a second time."),
    LATE_RETRY_TOPIC(
            Level.FAIL, "While the database is away, messages would go to the retry topics and be dead-lettered."),
    MERGED_ENTITY(
            Level.FAIL,
            "A repository's save() merges such an entity: a duplicate updates the row and is applied twice."),
    STRATEGY(Level.FAIL, "Messages would not be recognised in the way that the listener asks for.", true),
    LOCK(Level.FAIL, "Transactions that name the same business key could work at once.", true),
    POOL_SIZE(
            Level.WARN,
            "Waits for locks, recording of steps, the cleanup and endpoints need more, and would time out."),
    RETENTION_VALUE(Level.FAIL, "Without it there is no telling when a message may be forgotten.", true),
    INBOX(Level.FAIL, "Received messages could be neither shown nor replayed.", true),
    STORE_REPLY(Level.FAIL, "The duplicate of a request could not be given the first reply again.", true),
    TRANSACTION_PER_POLL(
            Level.FAIL, "Work that belongs to each record would be done before the transaction, or not at all.", true),
    RETENTION_TOO_SHORT(Level.FAIL, "A retry would find its message forgotten, and apply it a second time."),
    TOPIC_RETENTION(
            Level.WARN, "A rewind, or a group whose offsets expired, would apply again what has been forgotten."),
    MISSING_DEAD_LETTER_TOPIC(Level.WARN, "The first dead letter would block its partition.");

    /** The address of the documentation, for users who only have the jar. */
    public static final String DOCUMENTATION =
            "https://github.com/idempotency-dev/idempotency-spring-boot/blob/main/docs/";

    private final Level level;
    private final String danger;
    private final boolean indispensable;

    StartupCheck(Level level, String danger) {
        this(level, danger, false);
    }

    StartupCheck(Level level, String danger, boolean indispensable) {
        this.level = level;
        this.danger = danger;
        this.indispensable = indispensable;
    }

    /** Severity of its findings, unless it is relaxed. */
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

    private String reference() {
        return "See " + DOCUMENTATION + "checks.md#" + this;
    }

    /** Whether findings keep the application from starting, are logged, or are not looked for, unless they are indispensable. */
    public enum Mode {
        FAIL,
        WARN,
        OFF
    }

    /** How much a finding matters, most first. */
    public enum Level {

        /** The application does not start. */
        FAIL,

        /** It is logged as a warning. */
        WARN
    }

    /**
     * Something that keeps a listener from being protected, or endangers its messages.
     *
     * @param check what it was found by
     * @param where class, method and bean
     * @param what what was found
     * @param remedy how to fix it
     */
    public record Finding(StartupCheck check, String where, String what, String remedy) {

        /** Describes the finding in the form that reports use. */
        public String description() {
            return "[%s] %s%n     %s%n     %s%n     %s"
                    .formatted(this.check, this.where, this.what, this.check.danger(), this.check.reference());
        }

        @Override
        public String toString() {
            String found = "[%s] %s: %s".formatted(this.check, this.where, this.what);
            return String.join(" ", found, this.check.danger(), this.remedy, this.check.reference());
        }
    }
}
