package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.web.client.RestClient;

/**
 * The sample after {@code spring-boot:process-aot}, in a separate JVM: its beans are registered by generated code, and the
 * proxies of its listeners were generated at build time.
 */
class AheadOfTimeIT {

    private static final Pattern ADDRESS = Pattern.compile("The ledger is open: (http://localhost:\\d+)");

    @TempDir
    private static Path folder;

    private static String classPath;

    private Process running;

    @BeforeAll
    static void processTheSampleAheadOfTime() throws IOException, InterruptedException {
        Path sources = folder.resolve("sources");
        Path resources = folder.resolve("resources");
        Path classes = folder.resolve("classes");
        Path output = folder.resolve("processing.log");
        Process processing = SampleJvm.start(
                output,
                SampleJvm.RUNTIME_CLASS_PATH,
                List.of(),
                SpringApplicationAotProcessor.class.getName(),
                SampleApplication.class.getName(),
                sources.toString(),
                resources.toString(),
                classes.toString(),
                "dev.idempotency",
                "sample-app");
        assertThat(processing.waitFor()).as(() -> SampleJvm.read(output)).isZero();
        compile(sources, classes);
        classPath =
                String.join(File.pathSeparator, classes.toString(), resources.toString(), SampleJvm.RUNTIME_CLASS_PATH);
    }

    private static void compile(Path sources, Path classes) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-cp"));
        arguments.add(classes + File.pathSeparator + SampleJvm.RUNTIME_CLASS_PATH);
        try (Stream<Path> files = Files.walk(sources)) {
            files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }

    private void startSample(Path output, String... arguments) throws IOException {
        this.running = SampleJvm.start(
                output,
                classPath,
                List.of("-Dspring.aot.enabled=true", "-Dserver.port=0"),
                SampleApplication.class.getName(),
                arguments);
    }

    @AfterEach
    void stopTheSample() throws InterruptedException {
        this.running.destroy();
        if (!this.running.waitFor(30, TimeUnit.SECONDS)) {
            this.running.destroyForcibly();
        }
    }

    @Test
    void aPaymentSentFiveTimesIsProcessedOnceByEachProtectedListener() throws IOException {
        Path output = folder.resolve("sample.log");
        startSample(output);
        await().atMost(Duration.ofSeconds(120))
                .failFast("The sample ended", () -> !this.running.isAlive())
                .until(() -> ADDRESS.matcher(SampleJvm.read(output)).find());
        assertThat(SampleJvm.read(output)).contains("Starting AOT-processed SampleApplication");
        Matcher address = ADDRESS.matcher(SampleJvm.read(output));
        assertThat(address.find()).isTrue();
        RestClient http = RestClient.create(address.group(1));

        http.post().uri("/api/payments?times=5").retrieve().toBodilessEntity();

        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            String consumers =
                    http.get().uri("/actuator/idempotency").retrieve().body(String.class);
            assertThat(JsonPath.<List<String>>read(consumers, "$.consumers[*].consumer"))
                    .containsExactly("bookings", "ledger", "notifications", "points", "receipts", "turnover");
            assertThat(JsonPath.<List<Integer>>read(consumers, "$.consumers[*].messages.processed"))
                    .containsExactly(0, 1, 1, 1, 1, 1);
            assertThat(JsonPath.<List<Integer>>read(consumers, "$.consumers[*].messages.duplicate"))
                    .containsExactly(0, 4, 0, 4, 4, 4);
        });
        String inbox = http.get()
                .uri("/actuator/idempotencyinbox?consumer=receipts")
                .retrieve()
                .body(String.class);
        assertThat(inbox).contains("\"attempts\":1");
    }

    @Test
    void aSettingThatEndangersMessagesKeepsTheSampleFromStarting() throws IOException, InterruptedException {
        Path output = folder.resolve("refused.log");
        startSample(output, "--spring.kafka.consumer.enable-auto-commit=true");
        assertThat(this.running.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(this.running.exitValue()).isEqualTo(1);
        assertThat(SampleJvm.read(output))
                .contains("@IdempotentListener cannot keep its promise", "enable.auto.commit");
    }
}
