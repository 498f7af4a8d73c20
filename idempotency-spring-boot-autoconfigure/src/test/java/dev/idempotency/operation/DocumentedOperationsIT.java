package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.TestApplication;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The examples of docs/operations.md, to the letter, but for where their rows and messages come from. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DocumentedOperationsIT {

    private TestApplication app;

    @Configuration(proxyBeanMethods = false)
    @Import(NightlyImport.class)
    static class Application {

        @Bean
        IdempotentConsumer imports() {
            return IdempotentConsumer.named("nightly-import");
        }

        @Bean
        TransactionTemplate transaction(PlatformTransactionManager manager) {
            return new TransactionTemplate(manager);
        }
    }

    record Row(String id, int amount) {}

    @Component
    static class NightlyImport {

        private final IdempotentOperations idempotent;
        private final TransactionTemplate transaction;
        private final JdbcTemplate jdbc;

        NightlyImport(IdempotentOperations idempotent, TransactionTemplate transaction, JdbcTemplate jdbc) {
            this.idempotent = idempotent;
            this.transaction = transaction;
            this.jdbc = jdbc;
        }

        void run(String file, Iterable<List<Row>> chunks) {
            for (List<Row> chunk : chunks) {
                this.transaction.executeWithoutResult(status -> importNew(file, chunk));
            }
        }

        private void importNew(String file, List<Row> chunk) {
            Map<MessageId, Row> rows = chunk.stream()
                    .collect(Collectors.toMap(
                            row -> MessageId.of("nightly-import", file + "/" + row.id()),
                            row -> row,
                            (first, again) -> first,
                            LinkedHashMap::new));
            Set<MessageId> fresh = this.idempotent.claimAll(rows.keySet());
            fresh.forEach(id -> insert(rows.get(id)));
        }

        private void insert(Row row) {
            this.jdbc.update("insert into sale (id, amount) values (?, ?)", row.id(), row.amount());
        }
    }

    @BeforeAll
    void start() {
        this.app = TestApplication.start(
                "jdbc:h2:mem:documented-operations;DB_CLOSE_DELAY=-1",
                List.of("spring.kafka.bootstrap-servers=localhost:1"),
                Application.class);
        this.app.jdbc().execute("create table sale (id varchar(100) not null, amount integer not null)");
    }

    @AfterAll
    void stop() {
        this.app.close();
    }

    @Test
    void aNightlyImportCanBeStartedAgainAtAnyPoint() {
        NightlyImport nightly = this.app.bean(NightlyImport.class);
        List<List<Row>> chunks = IntStream.range(0, 10)
                .mapToObj(chunk -> IntStream.range(0, 10)
                        .mapToObj(row -> new Row(chunk + "-" + row, row))
                        .toList())
                .toList();
        for (int failing = 0; failing < 10; failing += 3) {
            List<List<Row>> broken = new ArrayList<>(chunks);
            List<Row> chunk = new ArrayList<>(chunks.get(failing));
            chunk.set(9, new Row("x".repeat(101), 0));
            broken.set(failing, chunk);
            assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> nightly.run("sales.csv", broken));
        }
        nightly.run("sales.csv", chunks);
        nightly.run("sales.csv", chunks);
        nightly.run("sales.csv", List.of(List.of(new Row("0-0", 0), new Row("0-0", 0))));
        assertThat(this.app.jdbc().queryForList("select id from sale", String.class))
                .hasSize(100)
                .doesNotHaveDuplicates();
    }
}
