package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** UUIDs that are a function of a message and of what they are for. */
final class DerivedKey {

    private static final long VERSION_BITS = 0xF000L;
    private static final long VERSION_7 = 0x7000L;
    private static final long VERSION_8 = 0x8000L;
    private static final long TIME_BITS = 0xFFFF_FFFF_FFFF_0000L;
    private static final int UUID_LENGTH = 36;
    private static final int VERSION_INDEX = 14;

    private DerivedKey() {}

    /** The digest of the message and the purpose, of version 8. Other parts, or as many in another order, are another purpose. */
    static UUID of(MessageId id, List<String> purpose) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
        Stream.concat(Stream.of(id.consumer(), id.value()), purpose.stream()).forEach(part -> {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            digest.update(bytes);
        });
        ByteBuffer hash = ByteBuffer.wrap(digest.digest());
        long version8 = (hash.getLong() & ~VERSION_BITS) | VERSION_8;
        long variant = (hash.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(version8, variant);
    }

    /**
     * The same, but of version 7 with the message's own time where its id is a UUID of version 7: so what is derived from
     * messages that stand side by side in an index stands side by side, too.
     */
    static UUID timeOrdered(MessageId id, List<String> purpose) {
        UUID derived = of(id, purpose);
        String message = id.value();
        if (message.length() != UUID_LENGTH || message.charAt(VERSION_INDEX) != '7') {
            return derived;
        }
        long time;
        try {
            time = UUID.fromString(message).getMostSignificantBits() & TIME_BITS;
        } catch (IllegalArgumentException ex) {
            return derived;
        }
        long rest = derived.getMostSignificantBits() & ~TIME_BITS & ~VERSION_BITS;
        return new UUID(time | VERSION_7 | rest, derived.getLeastSignificantBits());
    }
}
