package dev.idempotency.internal.result;

import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import dev.idempotency.result.ResultConverter;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.unit.DataSize;

/**
 * The results that are kept: each in the transaction of its work, with the name of its type, and with the time of its claim.
 * One that an earlier claim of the same id left has another time, and is not returned.
 *
 * <p>A result is read back as soon as it has been written. So one that could not be read again fails the work, while that
 * can still be undone, and the first caller gets what all others get.
 */
public final class ResultStore {

    /** By the claim, so that one without a result is found as well. */
    private static final String FIND = """
            select kept.result_type, kept.result
            from %s as claim
            %s join %s as kept on kept.consumer_id = claim.consumer_id and kept.message_id = claim.message_id
                and kept.processed_at = claim.processed_at
            where claim.consumer_id = ? and claim.message_id = ?
            """;

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final Ring ring;
    private final Supplier<@Nullable ResultConverter> converter;
    private final long maxLength;

    private record Row(@Nullable String type, String text) {}

    /** {@code converter} writes the results, if there is one; {@code maxSize} is how large the text of one may be. */
    public ResultStore(IdempotencyDatabase database, Supplier<@Nullable ResultConverter> converter, DataSize maxSize) {
        this.database = database;
        this.jdbc = database.jdbc();
        this.ring = new Ring(database);
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
        String name = type.getTypeName();
        String text = write("The result of %s cannot be kept, so that the work was undone".formatted(id), type, result);
        if (text.length() > this.maxLength) {
            throw new ResultException(
                    ("The result of %s, a %s, cannot be kept, so that the work was undone: its text has %d characters, and"
                                    + " %d are allowed. Return less, such as the key of what was written, or raise"
                                    + " idempotency.results.max-size.")
                            .formatted(id, name, text.length(), this.maxLength),
                    null);
        }
        StoreExceptionTranslator.attempt(() -> "keep the result of " + id, () -> {
            String claims = this.ring.tableOf(id);
            String sql = this.database.dialect().resultReplacementIn(this.database.resultTable(), claims);
            return this.jdbc.update(sql, name, text, id.consumer(), id.value());
        });
        return converter().read(text, type);
    }

    /**
     * Writes a result that can be read back.
     *
     * @param consequence what it means if that is not possible
     * @throws ResultException if it is not
     */
    public String write(String consequence, Type type, @Nullable Object result) {
        try {
            ResultConverter json = converter();
            String text = Objects.requireNonNull(json.write(result, type), "its ResultConverter has written nothing");
            json.read(text, type);
            return text;
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    ("%s, as its result cannot be written and read again as a %s: %s. Return something that can, such as a"
                                    + " record of plain values.")
                            .formatted(consequence, type.getTypeName(), ex.getMessage()),
                    ex);
        }
    }

    /**
     * The result of an id that has been claimed before.
     *
     * @throws ResultForgottenException if there is none
     * @throws ResultException if it cannot be read as this type
     */
    public @Nullable Object get(MessageId id, Type type) {
        Row row = StoreExceptionTranslator.attempt(() -> "look up the result of " + id, () -> find(id));
        String done = "The work for %s has been done before, and is not done again; but its result".formatted(id);
        if (row == null || row.type() == null) {
            throw new ResultForgottenException(
                    done
                            + " is not kept: none was asked for then, or it has been forgotten since, or this transaction is still"
                            + " at work for it. Keep results for longer, with IdempotentConsumer.resultRetention(…) or"
                            + " idempotency.results.retention.",
                    null);
        }
        if (!row.type().equals(type.getTypeName())) {
            throw new ResultException(
                    done
                            + " is a %s, and a %s is asked for. Ask for the type that was kept; if its class has been renamed, change result_type of the row in idempotency_result."
                                    .formatted(row.type(), type.getTypeName()),
                    null);
        }
        return read(done, type, row.text(), "idempotency_result");
    }

    /**
     * Reads what was written; {@code done} names it, and {@code table} is where it stands.
     *
     * @throws ResultException if it cannot be read as this type
     */
    public @Nullable Object read(String done, Type type, @Nullable String text, String table) {
        try {
            return converter().read(Objects.requireNonNull(text, "it was recorded without a result"), type);
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    "%s can no longer be read as a %s: %s. Let that class read what it wrote before, or delete the row in %s."
                            .formatted(done, type.getTypeName(), ex.getMessage(), table),
                    ex);
        }
    }

    /** A transaction that has read before may not see a claim that was committed since: it then reads the latest rows. */
    private @Nullable Row find(MessageId id) {
        List<Row> seen = find(id, "left", "");
        List<Row> latest = seen.isEmpty() ? find(id, "inner", "for update") : seen;
        return latest.isEmpty() ? null : latest.get(0);
    }

    private List<Row> find(MessageId id, String join, String ending) {
        return this.jdbc.query(
                FIND.formatted(this.ring.tableOf(id), join, this.database.resultTable()) + ending,
                (row, number) -> new Row(row.getString(1), row.getString(2)),
                id.consumer(),
                id.value());
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
