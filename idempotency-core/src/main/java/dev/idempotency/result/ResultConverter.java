package dev.idempotency.result;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns results into the text as which they are kept, and back.
 *
 * <p>Define a bean of this type to keep them as something other than the JSON of the application's {@code JsonMapper}.
 * Characters beyond ASCII are for the database to take or refuse.
 */
public interface ResultConverter {

    /** The text of a result that was declared to be of this type. What it throws fails the work. */
    String write(@Nullable Object result, Type type);

    /** The result that a text was written from: the same each time, as callers are given what is read. */
    @Nullable
    Object read(String text, Type type);
}
