package dev.idempotency.app;

import dev.idempotency.testing.TestKafka;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts a class in a separate JVM that can be killed, with the broker and the class path of the tests. */
public final class ChildJvm {

    private ChildJvm() {}

    /** Starts the class's {@code main} with these arguments; its output goes to {@code target/<log>.log}. */
    public static Process start(Class<?> main, String log, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("IDEMPOTENCY_TEST_KAFKA_BOOTSTRAP_SERVERS", TestKafka.bootstrapServers());
        builder.redirectErrorStream(true);
        builder.redirectOutput(new File("target/" + log + ".log"));
        return builder.start();
    }
}
