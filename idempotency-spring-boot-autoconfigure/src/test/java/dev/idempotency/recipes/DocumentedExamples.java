package dev.idempotency.recipes;

import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.build.Documentation;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * Compiles the Java examples of README and docs that no test runs. Each becomes a subclass of this class, which declares the
 * types and members that examples use.
 */
@SuppressWarnings("unused") // Used by examples.
public abstract class DocumentedExamples {

    record Payment(String id, String account, BigDecimal amount) {}

    record Order(String id, String customerId, String status, String account) {}

    record Measurement(double celsius) {}

    record AccountState(String accountId, long version) {}

    record Receipt(long number) {}

    record Booking(long number) {}

    record Row(String id) {}

    interface Accounts {

        void save(AccountState state);
    }

    interface Gateway {

        Receipt charge(String idempotencyKey, String order);
    }

    interface Mailer {

        void send(String order);

        void send(String receipt, String idempotencyKey);
    }

    static class InsufficientFundsException extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    interface Wallet {

        void debit(Payment payment);
    }

    IdempotentOperations idempotent;
    Inbox inbox;
    DeadLetters deadLetters;
    Reconciliation reconciliation;
    TransactionTemplate transaction;
    JdbcTemplate jdbc;
    KafkaTemplate<String, String> template;
    Accounts accounts;
    Gateway gateway;
    Mailer mailer;
    Wallet wallet;
    List<Measurement> measurements;
    List<Order> orders;
    List<Payment> ledger;
    List<MessageId> ids;
    Payment payment;
    Row row;
    Instant deployedAt;
    int i;
    String id;
    String key;
    String order;
    String payload;
    String status;
    String topic;

    abstract Receipt book(Payment payment);

    abstract Booking book(Order order);

    abstract void insert(Row row);

    private static final Pattern EXAMPLE = Pattern.compile("(?s)```java\n((?:import [^\n]*\n)*)(.*?)```");
    private static final String SOURCE = """
            package dev.idempotency.recipes;
            import dev.idempotency.*;
            import dev.idempotency.inbox.*;
            import dev.idempotency.key.*;
            import dev.idempotency.reconciliation.*;
            import dev.idempotency.redrive.*;
            import java.time.*;
            import java.util.*;
            import java.util.stream.*;
            import org.apache.kafka.clients.producer.*;
            import org.springframework.context.annotation.Bean;
            import org.springframework.kafka.annotation.*;
            import org.springframework.messaging.handler.annotation.*;
            import org.springframework.scheduling.annotation.*;
            import org.springframework.transaction.annotation.Transactional;
            import org.springframework.web.bind.annotation.*;
            %s
            abstract class %s extends DocumentedExamples {
            %s
            }
            """;
    private static final Path FOLDER = Path.of("target/documented-examples").toAbsolutePath();

    /** Returns the folder of the compiled examples. Its {@code errors.txt} has the errors of those that do not compile. */
    public static Path compile() {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        // Checks all examples even if some have errors.
        List<String> options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-d", FOLDER.toString());
        StringBuilder errors = new StringBuilder();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources = write();
            List<Diagnostic<? extends JavaFileObject>> found;
            do {
                DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
                Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromPaths(sources);
                compiler.getTask(null, files, problems, options, null, units).call();
                found = problems.getDiagnostics().stream()
                        .filter(problem -> problem.getKind() == Diagnostic.Kind.ERROR)
                        .toList();
                for (Diagnostic<? extends JavaFileObject> problem : found) {
                    errors.append(problem).append('\n');
                    Path wrong = Path.of(problem.getSource().toUri());
                    Files.deleteIfExists(wrong);
                    sources.remove(wrong);
                }
            } while (!found.isEmpty());
            Files.writeString(FOLDER.resolve("errors.txt"), errors);
            return FOLDER;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static List<Path> write() throws IOException {
        FileSystemUtils.deleteRecursively(FOLDER);
        Files.createDirectories(FOLDER);
        List<Path> sources = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            for (MatchResult example :
                    EXAMPLE.matcher(Documentation.read(page)).results().toList()) {
                String name = "Example" + sources.size();
                String source = SOURCE.formatted(example.group(1), name, membersOf(example.group(2)));
                sources.add(Files.writeString(FOLDER.resolve(name + ".java"), source));
            }
        }
        return sources;
    }

    /** Wraps statements in a method, and adds a method to annotations. */
    private static String membersOf(String example) {
        String members =
                example.replace("…", "").replaceFirst("@RabbitListener.*", "").strip();
        if (members.matches("(?s)@[^{;]*")) {
            return members + " void annotated() {}";
        }
        return members.matches("(?s)(@|void |private ).*") ? members : "void statements() {\n" + members + "\n}";
    }
}
