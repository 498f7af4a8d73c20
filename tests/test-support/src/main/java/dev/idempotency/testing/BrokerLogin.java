package dev.idempotency.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A listener of a broker that requires a password, encrypted with a generated certificate.
 *
 * @param port its port
 * @param directory the directory of the broker's key and certificate
 */
record BrokerLogin(int port, Path directory) {

    static final String USER = "app";
    static final String PASSWORD = "app-secret";

    private static final String STORE_PASSWORD = "changeit";

    private static final String CONFIGURATION = """
            listeners=PLAINTEXT://localhost:%1$d,CONTROLLER://localhost:%2$d,LOGIN://localhost:%3$d
            advertised.listeners=PLAINTEXT://localhost:%1$d,LOGIN://localhost:%3$d
            listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL
            listener.name.login.sasl.enabled.mechanisms=PLAIN
            listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
            user_%4$s="%5$s";
            listener.name.login.ssl.keystore.type=PKCS12
            listener.name.login.ssl.keystore.location=%6$s
            listener.name.login.ssl.keystore.password=%7$s
            """;

    /** Creates a listener with a new key and certificate. */
    static BrokerLogin create(Path directory) throws IOException {
        BrokerLogin login = new BrokerLogin(TestPostgresServer.freePort(), directory);
        login.keytool(
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-validity",
                "2");
        login.keytool("-exportcert", "-rfc", "-file", login.certificate().toString());
        return login;
    }

    private void keytool(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", "broker", "-keystore", keystore().toString(), "-storetype", "PKCS12"));
        command.addAll(List.of("-storepass", STORE_PASSWORD));
        Path log = this.directory.resolve("keytool.log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (process.onExit().join().exitValue() != 0) {
            throw new IllegalStateException("keytool failed: " + Files.readString(log));
        }
    }

    private Path keystore() {
        return this.directory.resolve("broker.p12");
    }

    /** Returns the certificate that clients must trust, as PEM. */
    Path certificate() {
        return this.directory.resolve("broker.pem");
    }

    /** Returns the broker properties that replace its listeners. */
    String configuration(int plainPort, int controllerPort) {
        return CONFIGURATION.formatted(
                plainPort, controllerPort, this.port, USER, PASSWORD, keystore(), STORE_PASSWORD);
    }
}
