package dev.idempotency.result;

import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.store.StoreExceptionTranslator;
import java.lang.reflect.Type;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.util.unit.DataSize;

/**
 * The results that are kept: each in the transaction of its work, and of one type, by name.
 *
 * <p>A result is read back as soon as it has been written. So one that could not be given again fails the work, while that
 * can still be undone, and the first caller gets what all others get.
 */
public final class KeptResults {

    private static final int MAX_TYPE_LENGTH = 1000;

    private final ResultTable table;
    private final Supplier<@Nullable ResultConverter> converter;
    private final long maxLength;

    /**
     * Results in a database.
     *
     * @param converter who writes them, if anybody can
     * @param maxSize how large the text of one may be
     */
    public KeptResults(IdempotencyDatabase database, Supplier<@Nullable ResultConverter> converter, DataSize maxSize) {
        this.table = new ResultTable(database);
        this.converter = converter;
        this.maxLength = maxSize.toBytes();
    }

    /** Returns why results of this type cannot be kept, or {@code null}. */
    public @Nullable String obstacleFor(Type type) {
        try {
            converter().write(null, type);
            return null;
        } catch (RuntimeException ex) {
            return ex.getMessage();
        }
    }

    /**
     * Keeps a result in the current transaction, in which its id has been claimed.
     *
     * @return what duplicates will be given
     * @throws ResultException if it cannot be kept
     */
    public @Nullable Object keep(MessageId id, Type type, @Nullable Object result) {
        String name = nameOf(type);
        String text;
        Object again;
        try {
            ResultConverter json = converter();
            text = Objects.requireNonNull(json.write(result, type), "its ResultConverter has written nothing");
            again = json.read(text, type);
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    ("The result of %s cannot be kept, as it cannot be written and read again as a %s, so that the work"
                                    + " was undone: %s. Return something that can, such as a record of plain values.")
                            .formatted(id, name, ex.getMessage()),
                    ex);
        }
        if (text.length() > this.maxLength) {
            throw new ResultException(
                    ("The result of %s, a %s, cannot be kept, so that the work was undone: its text has %d characters, and"
                                    + " %d are allowed. Return less, such as the key of what was written, or raise"
                                    + " idempotency.results.max-size.")
                            .formatted(id, name, text.length(), this.maxLength),
                    null);
        }
        try {
            this.table.write(id, new ResultTable.Row(name, text));
        } catch (DataAccessException ex) {
            throw StoreExceptionTranslator.translate("keep the result of " + id, ex);
        }
        return again;
    }

    /**
     * The result of an id that has been claimed before.
     *
     * @throws ResultForgottenException if there is none
     * @throws ResultException if it cannot be read as this type
     */
    public @Nullable Object get(MessageId id, Type type) {
        ResultTable.Row row;
        try {
            row = this.table.find(id);
        } catch (DataAccessException ex) {
            throw StoreExceptionTranslator.translate("look up the result of " + id, ex);
        }
        if (row == null) {
            throw new ResultForgottenException(
                    ("The work for %s has been done before, and is not done again; but its result is not kept: none was"
                                    + " asked for then, or it has been forgotten since, or this transaction is still at"
                                    + " work for it. Keep results for longer, with"
                                    + " IdempotentConsumer.resultRetention(…) or idempotency.results.retention.")
                            .formatted(id),
                    null);
        }
        if (!row.type().equals(type.getTypeName())) {
            throw new ResultException(
                    ("The work for %s has been done before, and is not done again; but its result is a %s, and a %s is"
                                    + " asked for. Ask for the type that was kept; if its class has been renamed, change"
                                    + " result_type of the row in idempotency_result.")
                            .formatted(id, row.type(), type.getTypeName()),
                    null);
        }
        try {
            return converter().read(row.text(), type);
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    ("The work for %s has been done before, and is not done again; but its result can no longer be read as"
                                    + " a %s: %s. Let that class read what it wrote before, or delete the row in"
                                    + " idempotency_result.")
                            .formatted(id, row.type(), ex.getMessage()),
                    ex);
        }
    }

    private static String nameOf(Type type) {
        String name = type.getTypeName();
        if (name.length() > MAX_TYPE_LENGTH) {
            throw new ResultException(
                    "A result of a type with so long a name cannot be kept, so that the work was undone: %s… Give it a class of its own."
                            .formatted(name.substring(0, MAX_TYPE_LENGTH)),
                    null);
        }
        return name;
    }

    private ResultConverter converter() {
        ResultConverter found = this.converter.get();
        if (found == null) {
            throw new IllegalStateException(
                    "there is no JSON mapper (tools.jackson.databind.json.JsonMapper) on the class"
                            + " path. Add spring-boot-starter-json, or define a ResultConverter");
        }
        return found;
    }
}
