package dev.idempotency.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts the sample, or a variant of it, in a separate JVM. */
final class SampleJvm {

    /** The class path without the test kit, which rejects applications that are not started by a test. */
    static final String RUNTIME_CLASS_PATH = Stream.of(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("idempotency-spring-boot-test"))
            .collect(Collectors.joining(File.pathSeparator));

    private SampleJvm() {}

    static Process start(Path output, String classPath, List<String> options, String mainClass, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(options);
        command.add(mainClass);
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("CLASSPATH", classPath);
        return builder.start();
    }

    static String read(Path output) {
        try {
            return Files.readString(output);
        } catch (IOException ex) {
            return ex.toString();
        }
    }
}
