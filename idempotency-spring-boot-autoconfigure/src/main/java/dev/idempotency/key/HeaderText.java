package dev.idempotency.key;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Header bytes as text: UTF-8 where that is what they are, and {@code hex:…} for all else, such as a binary UUID or a
 * serialized number. Different bytes never become the same text.
 */
final class HeaderText {

    private static final String HEX_PREFIX = "hex:";

    private HeaderText() {}

    static String of(byte[] value) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(value))
                    .toString();
            boolean plain = text.chars().noneMatch(Character::isISOControl);
            if (plain && !text.startsWith(HEX_PREFIX)) {
                return text;
            }
        } catch (CharacterCodingException ex) {
            // Not text: falls through to its bytes.
        }
        return HEX_PREFIX + HexFormat.of().formatHex(value);
    }
}
