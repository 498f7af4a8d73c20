package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

/** The same work from code: in a plain transaction, with a claim by hand, and with {@link IdempotentOperations}. */
public final class MeasuredOperations {

    /** The result of the work, of the size of a typical receipt. */
    public record Receipt(String key, long amount, String text) {}

    private static final String CONSUMER = "operations";
    private static final String PROCESSED = "operations_processed";
    private static final String RESULT = "operations_result";

    private static final String CLAIM = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset)
            values (?, ?, '-', 0, 0)
            on conflict do nothing
            """.formatted(PROCESSED);

    private static final String KEEP =
            "insert into %s (consumer_id, message_id, result_type, result) values (?, ?, ?, ?)".formatted(RESULT);

    /** The variant with which the others are compared. */
    public static final String PLAIN = "plain transaction";

    private static final String CLAIMED = "claim by hand";
    private static final String CLAIMED_AND_KEPT = "claim and result by hand";
    private static final String EXECUTE = "`execute(id, work)`";
    private static final String EXECUTE_AND_KEEP = "`execute(id, type, work)`";

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final IdempotentOperations operations;
    private final JsonMapper json;
    private final Effects effects;

    MeasuredOperations(
            JdbcTemplate jdbc,
            PlatformTransactionManager transactionManager,
            IdempotentOperations operations,
            JsonMapper json) {
        this.jdbc = jdbc;
        this.transaction = new TransactionTemplate(transactionManager);
        this.operations = operations;
        this.json = json;
        this.effects = new Effects(jdbc, CONSUMER);
        for (String[] table : new String[][] {{PROCESSED, "idempotency_processed"}, {RESULT, "idempotency_result"}}) {
            jdbc.execute("create table if not exists %s (like %s including all)".formatted(table[0], table[1]));
        }
    }

    /** Returns the classes that an application needs to measure them. */
    public static List<Class<?>> classes() {
        return List.of(Configured.class, MeasuredOperations.class);
    }

    /** Returns the work by name, for one key. */
    public Map<String, Consumer<String>> all() {
        return Map.of(
                PLAIN, key -> this.transaction.executeWithoutResult(status -> work(key)),
                CLAIMED, this::claimAndWork,
                CLAIMED_AND_KEPT, this::claimWorkAndKeep,
                EXECUTE,
                        key -> this.operations.execute(MessageId.of(CONSUMER, key), () -> {
                            work(key);
                        }),
                EXECUTE_AND_KEEP,
                        key -> this.operations.execute(MessageId.of(CONSUMER, key), Receipt.class, () -> work(key)));
    }

    /** Returns the names in the order of the report. */
    public static List<String> names() {
        return List.of(PLAIN, CLAIMED, EXECUTE, CLAIMED_AND_KEPT, EXECUTE_AND_KEEP);
    }

    private Receipt work(String key) {
        this.effects.happen(key);
        return new Receipt(key, 4711, "x".repeat(100));
    }

    private void claimAndWork(String key) {
        this.transaction.executeWithoutResult(status -> {
            if (this.jdbc.update(CLAIM, CONSUMER, key) == 1) {
                work(key);
            }
        });
    }

    private void claimWorkAndKeep(String key) {
        this.transaction.executeWithoutResult(status -> {
            if (this.jdbc.update(CLAIM, CONSUMER, key) == 1) {
                String result = this.json.writeValueAsString(work(key));
                this.jdbc.update(KEEP, CONSUMER, key, Receipt.class.getName(), result);
            }
        });
    }

    /** Fails unless each key had exactly one effect; then deletes all rows. */
    public void check(int expected) {
        new MeasuredListener(CONSUMER, CONSUMER, true, "", List.of()).checkEffects(this.jdbc, expected);
        List<String> tables = new ArrayList<>(List.of(Effects.table(CONSUMER), PROCESSED, RESULT));
        tables.addAll(List.of("idempotency_processed", "idempotency_result"));
        this.jdbc.execute("truncate table " + String.join(", ", tables));
    }

    @Configuration(proxyBeanMethods = false)
    static class Configured {

        @Bean
        IdempotentConsumer operationsConsumer() {
            return IdempotentConsumer.named(CONSUMER);
        }

        @Bean
        JsonMapper jsonMapper() {
            return JsonMapper.builder().build();
        }
    }
}
