package dev.idempotency.benchmarks.contender;

import java.util.List;

/** The record listeners; the raw one comes first, as the others are compared with it. */
public final class RecordContenders {

    public static final Contender RAW = Contender.raw("raw, without deduplication", RawListener.ID, RawListener.class);

    private static final Contender RAW_AGAIN =
            Contender.raw("raw, a second time", RawListener.AGAIN, RawListener.class);

    private static final Contender ONE_INSERT_MORE = Contender.deduplicating(
            "one insert more, by hand",
            OneInsertMoreListener.ID,
            OneInsertMoreListener.TABLE,
            OneInsertMoreListener.class);

    public static final Contender IDEMPOTENT = Contender.deduplicating(
            "`@IdempotentListener`",
            IdempotentRecordListener.ID,
            "idempotency_processed",
            IdempotentRecordListener.class);

    private static final Contender PER_POLL = Contender.deduplicating(
            "`@IdempotentListener(transactionPerPoll = true)`",
            PollListener.ID,
            "idempotency_processed",
            PollListener.class);

    private static final Contender HAND_WRITTEN = Contender.deduplicating(
            "hand-written check, then insert",
            HandWrittenListener.ID,
            HandWrittenListener.TABLE,
            HandWrittenListener.class);

    private static final Contender SPRING_INTEGRATION = Contender.deduplicating(
            "Spring Integration `JdbcMetadataStore`",
            SpringIntegrationListener.ID,
            "int_metadata_store",
            SpringIntegrationListener.class);

    private static final Contender CAMEL = Contender.deduplicating(
            "Camel `JdbcMessageIdRepository`", CamelListener.ID, "camel_messageprocessed", CamelListener.class);

    private static final Contender EVENTUATE = Contender.deduplicating(
            "Eventuate Tram `SqlTableBasedDuplicateMessageDetector`",
            EventuateListener.ID,
            "eventuate.received_messages",
            EventuateListener.class);

    private RecordContenders() {}

    /** The second raw one shows how far the ratios of a run can be trusted, and the one insert more what is possible. */
    public static List<Contender> all() {
        return List.of(
                RAW,
                RAW_AGAIN,
                ONE_INSERT_MORE,
                IDEMPOTENT,
                PER_POLL,
                HAND_WRITTEN,
                SPRING_INTEGRATION,
                CAMEL,
                EVENTUATE);
    }

    /** Without the peers. */
    public static List<Contender> ours() {
        return List.of(RAW, IDEMPOTENT);
    }
}
