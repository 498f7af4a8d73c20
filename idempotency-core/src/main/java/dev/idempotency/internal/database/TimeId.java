package dev.idempotency.internal.database;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Ids that carry their time: UUIDs of version 7 and ULIDs, in upper or lower case, from 1970 to 2109. A function of the
 * id's text alone, so that an id has the same slot whenever and wherever it is claimed.
 */
final class TimeId {

    /** As in the script of the ring, where a trigger keeps such ids out of the other table. */
    static final String PATTERN =
            "0[0-3][0-9a-fA-F]{6}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}"
                    + "|0[0-3][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{24}";

    private static final Pattern COMPILED = Pattern.compile(PATTERN);
    private static final String BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    private TimeId() {}

    /** Returns the milliseconds since the epoch, or -1 if the id does not carry its time. */
    static long millisOf(String id) {
        if (id.isEmpty() || id.charAt(0) != '0' || !COMPILED.matcher(id).matches()) {
            return -1;
        }
        return (id.charAt(8) == '-')
                ? Long.parseLong(id.substring(0, 8) + id.substring(9, 13), 16)
                : id.substring(0, 10)
                        .toUpperCase(Locale.ROOT)
                        .chars()
                        .mapToLong(BASE_32::indexOf)
                        .reduce(0, (time, digit) -> time * BASE_32.length() + digit);
    }
}
