package dev.idempotency.key;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Header bytes as text: UTF-8 where that is what they are, and {@code hex:…} for all else, such as a binary UUID or a
 * serialized number. Different bytes never become the same text, and blank ones stay blank.
 */
final class HeaderDecoder {

    private static final String HEX_PREFIX = "hex:";
    private static final char REPLACEMENT = '\uFFFD';

    private HeaderDecoder() {}

    static String decode(byte[] value) {
        String text = new String(value, StandardCharsets.UTF_8);
        boolean asIs = (isPlain(text) || text.isBlank()) && !text.startsWith(HEX_PREFIX) && isFaithful(text, value);
        return asIs ? text : HEX_PREFIX + HexFormat.of().formatHex(value);
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** Whether nothing was replaced while decoding, as bytes are that are not UTF-8. */
    private static boolean isFaithful(String text, byte[] value) {
        return text.indexOf(REPLACEMENT) < 0 || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), value);
    }
}
