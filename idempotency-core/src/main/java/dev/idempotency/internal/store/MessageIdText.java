package dev.idempotency.internal.store;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Set;
import org.springframework.util.StringUtils;

/** Converts what producers and operators call a message to the ids it may be stored under. */
public final class MessageIdText {

    private static final String HEX_PREFIX = "hex:";

    /** Replacement for bytes that are not UTF-8. */
    private static final char REPLACEMENT = '\uFFFD';

    private MessageIdText() {}

    /**
     * Header bytes as text: UTF-8 where that is what they are, and {@code hex:…} for all else, such as a binary UUID or a
     * serialized number. Different bytes never become the same text, and blank ones stay blank.
     */
    public static String decode(byte[] value) {
        String text = new String(value, StandardCharsets.UTF_8);
        boolean plain = text.isBlank() || !hasControlCharacters(text);
        boolean faithful = text.indexOf(REPLACEMENT) < 0 || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), value);
        return (plain && faithful && !text.startsWith(HEX_PREFIX))
                ? text
                : HEX_PREFIX + HexFormat.of().formatHex(value);
    }

    private static boolean hasControlCharacters(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ids under which a message may be stored that an operator names by this text: the key that its producer set, in a header
     * or elsewhere, or the id that was derived from it and logged.
     *
     * @throws IllegalArgumentException if the text is blank, or no consumer can have this name
     */
    public static Set<MessageId> idsNamed(String consumer, String text) {
        if (MessageId.isNoKey(text)) {
            throw new IllegalArgumentException(
                    "The message id must not be blank, but is '" + StringUtils.truncate(text) + "'");
        }
        Set<MessageId> ids = new LinkedHashSet<>();
        ids.add(MessageId.of(consumer, decode(text.getBytes(StandardCharsets.UTF_8))));
        try {
            ids.add(MessageId.of(consumer, text));
            if (text.length() <= MessageId.MAX_VALUE_LENGTH) {
                ids.add(new MessageId(consumer, text));
            }
        } catch (InvalidMessageKeyException ex) {
            // Only a header can hold such a text.
        }
        return ids;
    }
}
