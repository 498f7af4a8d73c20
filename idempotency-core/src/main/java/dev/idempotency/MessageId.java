package dev.idempotency;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The identity of a message for one consumer: what is recorded once, and only once.
 *
 * @param consumer the consumer's name, at most {@value #MAX_CONSUMER_LENGTH} characters
 * @param value the message's id as it is stored, at most {@value #MAX_VALUE_LENGTH} characters, none of which a database
 *     would refuse or, worse, change: another id might then pass for this one
 */
public record MessageId(String consumer, String value) {

    /** The longest name of a consumer. */
    public static final int MAX_CONSUMER_LENGTH = 200;

    /** The longest id that is stored as it is. */
    public static final int MAX_VALUE_LENGTH = 255;

    private static final String DIGEST_PREFIX = "sha256:";

    public MessageId {
        requireLength("consumer", consumer, MAX_CONSUMER_LENGTH);
        requireLength("message id", value, MAX_VALUE_LENGTH);
        requireStorable(value);
    }

    private static void requireLength(String what, @Nullable String text, int max) {
        if (text == null || text.isBlank() || text.length() > max) {
            throw new IllegalArgumentException("The %s must have 1 to %d characters, but is '%s'"
                    .formatted(what, max, StringUtils.truncate(String.valueOf(text))));
        }
    }

    /**
     * The id of whatever has this key, such as one that a client chose. A key that is too long is stored by its digest; so
     * is one that looks like a digest, so that no key can pass for another.
     *
     * @throws InvalidMessageKeyException if there is no key, or a blank one
     * @throws InvalidMessageKeyException if databases refuse it
     */
    public static MessageId of(String consumer, @Nullable String key) {
        if (key == null || isNoKey(key)) {
            throw InvalidMessageKeyException.missing(
                    "There is no key for consumer '%s', or a blank one: the caller must provide one."
                            .formatted(StringUtils.truncate(consumer)));
        }
        if (key.length() <= MAX_VALUE_LENGTH && !key.startsWith(DIGEST_PREFIX)) {
            return new MessageId(consumer, key);
        }
        requireStorable(key);
        byte[] digest = sha256().digest(key.getBytes(StandardCharsets.UTF_8));
        return new MessageId(consumer, DIGEST_PREFIX + HexFormat.of().formatHex(digest));
    }

    private static void requireStorable(String key) {
        String refusal = whyRefused(key);
        if (refusal != null) {
            throw new InvalidMessageKeyException("The key " + refusal, null);
        }
    }

    /**
     * Whether a text says that there is no key: it is blank, or the text of {@code null}. All messages without
     * a key would have the same.
     */
    public static boolean isNoKey(String key) {
        return key.equals("null") || isBlank(key);
    }

    /** Java's blanks, and the non-breaking ones of Unicode, which Java does not count. */
    private static boolean isBlank(String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (!Character.isWhitespace(character) && !Character.isSpaceChar(character)) {
                return false;
            }
        }
        return true;
    }

    /** Returns why databases refuse a key, or {@code null} if they do not. */
    public static @Nullable String whyRefused(String key) {
        for (int i = 0; i < key.length(); i++) {
            char character = key.charAt(i);
            if (character == '\0') {
                return "contains a NUL character, which databases refuse";
            }
            if (Character.isSurrogate(character)) {
                i++;
                if (i == key.length() || !Character.isSurrogatePair(character, key.charAt(i))) {
                    return "is not valid Unicode (half of a surrogate pair)";
                }
            }
        }
        return null;
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public String toString() {
        return this.consumer + ":" + this.value;
    }
}
