package dev.idempotency.internal.inbox;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Headers as readable text without loss: one line each, {@code name: value}. Bytes other than printable ASCII are written
 * like {@code %0A}; a header without a value is a name alone.
 */
final class HeaderLines {

    private static final String SEPARATOR = ": ";

    /** A byte for each character. */
    private static final Charset BYTES = StandardCharsets.ISO_8859_1;

    private HeaderLines() {}

    static String write(Iterable<Header> headers) {
        StringBuilder lines = new StringBuilder();
        for (Header header : headers) {
            if (!lines.isEmpty()) {
                lines.append('\n');
            }
            write(lines, header.key().getBytes(StandardCharsets.UTF_8), true);
            byte[] value = header.value();
            if (value != null) {
                lines.append(SEPARATOR);
                write(lines, value, false);
            }
        }
        return lines.toString();
    }

    /** In a name, the colon is escaped too: the first one ends it. */
    private static void write(StringBuilder text, byte[] bytes, boolean name) {
        for (byte character : bytes) {
            if (character >= ' ' && character <= '~' && character != '%' && !(name && character == ':')) {
                text.append((char) character);
            } else {
                text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(character));
            }
        }
    }

    static List<Header> read(String lines) {
        List<Header> headers = new ArrayList<>();
        if (!lines.isEmpty()) {
            for (String line : lines.split("\n", -1)) {
                int colon = line.indexOf(':');
                String name = (colon < 0) ? line : line.substring(0, colon);
                byte @Nullable [] value = (colon < 0) ? null : bytes(line.substring(colon + SEPARATOR.length()));
                headers.add(new RecordHeader(new String(bytes(name), StandardCharsets.UTF_8), value));
            }
        }
        return headers;
    }

    private static byte[] bytes(String text) {
        return StringUtils.uriDecode(text, BYTES).getBytes(BYTES);
    }
}
