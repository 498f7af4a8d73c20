package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Test;

class HeaderLinesTests {

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
}
