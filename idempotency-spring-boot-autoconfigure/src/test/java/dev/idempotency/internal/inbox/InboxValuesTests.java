package dev.idempotency.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.kafka.ReceivedRecords;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.UncategorizedSQLException;

/** The values that are stored for a message and its failure. */
class InboxValuesTests {

    private static Header header(String name, String value) {
        return new RecordHeader(name, value.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void headersAreReadableAndReadAgainByteForByte() {
        assertThat(HeaderLines.write(List.of(header("message-id", "4711"), header("traceparent", "00-ab:cd-01"))))
                .isEqualTo("message-id: 4711\ntraceparent: 00-ab:cd-01");
        assertThat(HeaderLines.read(HeaderLines.write(List.of()))).isEmpty();
        byte[] every = new byte[10_000];
        new Random(42).nextBytes(every);
        List<Header> headers = new ArrayList<>(List.of(
                header("a: b", "c: d"),
                header("", ""),
                header("näme\n", "100 %41\r\n"),
                header("a: b", "the same name again"),
                new RecordHeader("null", (byte[]) null),
                new RecordHeader("every", every)));
        String lines = HeaderLines.write(headers);
        assertThat(lines).matches("[ -~\n]*");
        assertThat(HeaderLines.read(lines)).isEqualTo(headers);
    }

    private static final RecordCoordinates ELSEWHERE = new RecordCoordinates("elsewhere", 1, 2);

    private final ReceivedRecords received = new ReceivedRecords();

    private StoredMessage keep(Headers headers, Object value, RecordCoordinates original, boolean retries) {
        ConsumerRecord<String, Object> record = new ConsumerRecord<>(
                "topic", 3, 7, 0, TimestampType.CREATE_TIME, 0, 0, "key", value, headers, Optional.empty());
        return StoredMessage.of(new MessageId("c", "1"), original, record, this.received, 10, retries);
    }

    @Test
    void aRecordLeadsBackOnlyFromARetryTopicOrWithinItsOwn() {
        Headers headers = new RecordHeaders();
        assertThat(keep(headers, "v", ELSEWHERE, true).coordinates()).isEqualTo(ELSEWHERE);
        assertThat(keep(headers, "v", ELSEWHERE, false).coordinates()).isEqualTo(new RecordCoordinates("topic", 3, 7));
        RecordCoordinates replayed = new RecordCoordinates("topic", 3, 1);
        assertThat(keep(headers, "v", replayed, false).coordinates()).isEqualTo(replayed);
    }

    @Test
    void theTypeIsThatOfTheFirstHeaderPresentOrElseTheClass() {
        Headers headers = new RecordHeaders().add("ce_type", "second\n".getBytes(StandardCharsets.UTF_8));
        assertThat(keep(headers, "v", ELSEWHERE, false).type()).isEqualTo("second?");
        headers.add("message-type", "x".repeat(300).getBytes(StandardCharsets.UTF_8));
        assertThat(keep(headers, "v", ELSEWHERE, false).type()).isEqualTo("x".repeat(255));
        assertThat(keep(new RecordHeaders(), "v", ELSEWHERE, false).type()).isEqualTo("java.lang.String");
        assertThat(keep(new RecordHeaders(), null, ELSEWHERE, false).type()).isNull();
    }

    @Test
    void theBytesOfARecordThatAnInterceptorReplacedAreUnknown() {
        Headers headers = new RecordHeaders();
        this.received.beginPoll();
        this.received.remember(headers, false, ByteBuffer.wrap(new byte[] {1}));
        assertThat(keep(headers, "changed", ELSEWHERE, false).payload()).containsExactly(1);
        Headers tombstone = new RecordHeaders();
        this.received.remember(tombstone, true, ByteBuffer.wrap(new byte[] {1}));
        assertThat(keep(tombstone, null, ELSEWHERE, false).omitted()).isNull();
        StoredMessage unknown = keep(new RecordHeaders(), "changed", ELSEWHERE, false);
        assertThat(unknown.payloadSize()).isNull();
        assertThat(unknown.omitted()).isEqualTo(StoredMessage.UNKNOWN);
    }

    private static RuntimeException sanitized(SQLException failure) {
        return RecordedFailure.sanitize(new UncategorizedSQLException("task", "sql", failure));
    }

    private static SQLException batch(SQLException cause) {
        BatchUpdateException batch = new BatchUpdateException(
                "Batch entry 0 insert … ('secret') was aborted: " + cause.getMessage(),
                cause.getSQLState(),
                cause.getErrorCode(),
                new int[0],
                cause);
        batch.setNextException(cause);
        return batch;
    }

    /** Retries depend on the kind of failure. */
    @ParameterizedTest
    @CsvSource({"40P01", "40001", "55P03", "08006", "53300", "57P01", "25006", "57014", "23505", "22001", "42P01"})
    void theKindOfFailureStaysTheSame(String state) {
        SQLException failure = new SQLException("what happened", state);
        DatabaseFailureClassifier classifier = new DatabaseFailureClassifier();
        FailureKind kind = classifier.classify(new UncategorizedSQLException("task", "sql", failure));
        assertThat(classifier.classify(sanitized(failure))).isEqualTo(kind);
        assertThat(classifier.classify(sanitized(batch(failure)))).isEqualTo(kind);
        assertThat(classifier.classify(sanitized(new SQLTransientConnectionException("gone"))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void valuesAreLeftOutWhereverTheDatabasePutsThem() {
        SQLException violation = new SQLException("violates a constraint\n  Detail: row contains (secret)", "23505");
        assertThat(sanitized(violation)).isInstanceOf(DuplicateKeyException.class);
        for (SQLException failure : new SQLException[] {violation, batch(violation)}) {
            assertThat(RecordedFailure.format(sanitized(failure)))
                    .contains("violates a constraint")
                    .doesNotContain("secret");
        }
        SQLException deadlock = new SQLException("deadlock detected\n  Detail: process 1 waits", "40P01");
        assertThat(RecordedFailure.format(sanitized(batch(deadlock))))
                .contains("process 1 waits")
                .doesNotContain("secret");
    }

    private static Throwable deep(int depth, Throwable cause) {
        return (depth > 0) ? deep(depth - 1, cause) : new IllegalStateException("wrapper", cause);
    }

    @Test
    void theLastCauseIsThereHoweverLongTheTraceBeforeItIs() {
        String text = RecordedFailure.format(deep(300, deep(300, new IllegalArgumentException("the\0reason"))));
        assertThat(text)
                .startsWith("java.lang.IllegalStateException: wrapper")
                .contains(
                        "Caused by: java.lang.IllegalArgumentException: the?reason",
                        "\tat dev.idempotency.internal.inbox")
                .hasSizeLessThan(8_100);
    }

    @Test
    void aFailureThatCannotBePrintedIsNamed() {
        assertThat(RecordedFailure.format(endless()))
                .contains(" cannot be printed: java.lang.StackOverflowError")
                .hasSizeLessThan(8_100);
    }

    private static RuntimeException endless() {
        return new RuntimeException() {

            @Override
            public synchronized Throwable getCause() {
                return endless();
            }
        };
    }
}
