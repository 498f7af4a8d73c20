package dev.idempotency.actuate;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that were received: as text where they are text in UTF-8, otherwise in Base64.
 *
 * @param text the text
 * @param base64 the bytes
 */
public record BytesReport(@Nullable String text, @Nullable String base64) {

    static @Nullable BytesReport of(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return new BytesReport(text, null);
        } catch (CharacterCodingException ex) {
            return new BytesReport(null, Base64.getEncoder().encodeToString(bytes));
        }
    }
}
