package dev.idempotency.benchmarks.measured;

import java.util.List;

/** The record listeners; the raw one is first, as the others are compared with it. */
public final class MeasuredRecordListeners {

    public static final MeasuredListener RAW =
            MeasuredListener.raw("raw, without deduplication", RawListener.ID, RawListener.class);

    private static final MeasuredListener RAW_AGAIN =
            MeasuredListener.raw("raw, a second time", RawListener.AGAIN, RawListener.class);

    private static final MeasuredListener ONE_INSERT_MORE = MeasuredListener.deduplicating(
            "one insert more, by hand",
            OneInsertMoreListener.ID,
            OneInsertMoreListener.TABLE,
            OneInsertMoreListener.class);

    public static final MeasuredListener IDEMPOTENT = MeasuredListener.deduplicating(
            "`@IdempotentListener`",
            IdempotentRecordListener.ID,
            MeasuredListener.CLAIMS,
            IdempotentRecordListener.class);

    public static final MeasuredListener OFFSET = MeasuredListener.deduplicating(
            "`@IdempotentListener(strategy = OFFSET)`",
            OffsetListener.ID,
            MeasuredListener.POSITIONS,
            OffsetListener.class);

    private static final MeasuredListener AT_COMMIT = MeasuredListener.deduplicating(
            "`@IdempotentListener(claimAtCommit = \"true\")`",
            AtCommitListener.ID,
            MeasuredListener.CLAIMS,
            AtCommitListener.class);

    private static final MeasuredListener PER_POLL = MeasuredListener.deduplicating(
            "`@IdempotentListener(transactionPerPoll = \"true\")`",
            PollListener.ID,
            MeasuredListener.CLAIMS,
            PollListener.class);

    private static final MeasuredListener PER_POLL_OFFSET = MeasuredListener.deduplicating(
            "`@IdempotentListener(strategy = OFFSET, transactionPerPoll = \"true\")`",
            OffsetPollListener.ID,
            MeasuredListener.POSITIONS,
            OffsetPollListener.class,
            PollListener.class);

    private static final MeasuredListener KEYED = MeasuredListener.deduplicating(
            "`@IdempotentListener(key = …)`", KeyedListener.ID, MeasuredListener.CLAIMS, KeyedListener.class);

    private static final MeasuredListener VERSION = MeasuredListener.deduplicating(
            "`@IdempotentListener(strategy = DeduplicationStrategy.VERSION)`",
            VersionListener.ID,
            "idempotency_version",
            VersionListener.class);

    private static final MeasuredListener HAND_WRITTEN = MeasuredListener.deduplicating(
            "hand-written check, then insert",
            HandWrittenListener.ID,
            HandWrittenListener.TABLE,
            HandWrittenListener.class);

    private static final MeasuredListener SPRING_INTEGRATION = MeasuredListener.deduplicating(
            "Spring Integration `JdbcMetadataStore`",
            SpringIntegrationListener.ID,
            "int_metadata_store",
            SpringIntegrationListener.class);

    private static final MeasuredListener CAMEL = MeasuredListener.deduplicating(
            "Camel `JdbcMessageIdRepository`", CamelListener.ID, "camel_messageprocessed", CamelListener.class);

    private static final MeasuredListener EVENTUATE = MeasuredListener.deduplicating(
            "Eventuate Tram `SqlTableBasedDuplicateMessageDetector`",
            EventuateListener.ID,
            "eventuate.received_messages",
            EventuateListener.class);

    private static final MeasuredListener RAW_UNIQUE = MeasuredListener.raw(
            "raw, into a table with a unique index", UniqueRowListener.RAW, UniqueRowListener.class);

    private static final MeasuredListener CONSTRAINT = MeasuredListener.deduplicating(
            "`@IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT)`",
            UniqueRowListener.CONSTRAINT,
            Effects.table(UniqueRowListener.CONSTRAINT),
            UniqueRowListener.class);

    private MeasuredRecordListeners() {}

    /** Returns all listeners. The second raw one shows the accuracy of ratios, and the one insert more the possible rate. */
    public static List<MeasuredListener> all() {
        return List.of(
                RAW,
                RAW_AGAIN,
                ONE_INSERT_MORE,
                IDEMPOTENT,
                AT_COMMIT,
                OFFSET,
                PER_POLL,
                KEYED,
                VERSION,
                PER_POLL_OFFSET,
                HAND_WRITTEN,
                SPRING_INTEGRATION,
                CAMEL,
                EVENTUATE);
    }

    /** Returns the raw listener and ours, without other libraries. */
    public static List<MeasuredListener> ours() {
        return List.of(RAW, IDEMPOTENT);
    }

    /** Returns the listeners whose rows are unique anyway, with the raw one first. */
    public static List<MeasuredListener> ofUniqueRows() {
        return List.of(RAW_UNIQUE, CONSTRAINT);
    }

    /** Returns the listeners that are measured with several consumers, and with growing tables. */
    public static List<MeasuredListener> scaled() {
        return List.of(
                RAW, //
                IDEMPOTENT,
                OFFSET);
    }

    /** Returns the listeners whose rates are at the beginning of a report. */
    public static List<MeasuredListener> headlines() {
        return List.of(
                IDEMPOTENT, //
                OFFSET,
                PER_POLL,
                PER_POLL_OFFSET);
    }
}
