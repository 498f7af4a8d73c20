package dev.idempotency.inbox;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Headers as text that people can read and from which every byte can be had again: a line each, {@code name: value}, in
 * their order. What is not printable ASCII is written like {@code %0A}; a header without a value is a name alone.
 */
final class HeaderLines {

    private static final String SEPARATOR = ": ";
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

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
            boolean plain = character >= ' ' && character <= '~' && character != '%' && !(name && character == ':');
            if (plain) {
                text.append((char) character);
            } else {
                text.append('%').append(HEX.toHexDigits(character));
            }
        }
    }

    static List<Header> read(String lines) {
        List<Header> headers = new ArrayList<>();
        if (!lines.isEmpty()) {
            for (String line : lines.split("\n", -1)) {
                headers.add(header(line));
            }
        }
        return headers;
    }

    private static Header header(String line) {
        int colon = line.indexOf(':');
        String name = new String(bytes((colon < 0) ? line : line.substring(0, colon)), StandardCharsets.UTF_8);
        byte @Nullable [] value = (colon < 0) ? null : bytes(line.substring(colon + SEPARATOR.length()));
        return new RecordHeader(name, value);
    }

    private static byte[] bytes(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '%') {
                bytes.write(HexFormat.fromHexDigits(text, i + 1, i + 3));
                i += 2;
            } else {
                bytes.write(character);
            }
        }
        return bytes.toByteArray();
    }
}
