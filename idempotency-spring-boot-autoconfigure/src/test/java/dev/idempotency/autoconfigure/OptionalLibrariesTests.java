package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.ClassUtils;

/**
 * The beans of an application without an optional library. Its classes are really missing from the class path, so that direct
 * references to them fail too, not only lookups by name.
 */
class OptionalLibrariesTests {

    private static final List<String> WITH_ALL = List.of(
            "idempotencyEndpoint",
            "idempotencyHealthIndicator",
            "idempotencyInboxEndpoint",
            "idempotencyMeterEventListener",
            "idempotencyObservationListener",
            "idempotencyResultConverter",
            "idempotentOperations",
            "processedMessageStore");

    @ParameterizedTest
    @CsvSource({
        "(?!), ''",
        "micrometer-(core|registry).*, idempotencyMeterEventListener",
        "spring-boot-micrometer-.*, idempotencyMeterEventListener idempotencyObservationListener",
        "spring-boot-health.*, idempotencyHealthIndicator",
        "spring-boot-actuator.*, idempotencyEndpoint idempotencyInboxEndpoint",
        "(jackson-databind-3|spring-boot-actuator).*, idempotencyResultConverter idempotencyEndpoint idempotencyInboxEndpoint",
        "(micrometer-(core|registry)|spring-boot-(micrometer|health|actuator|flyway)|flyway-).*, idempotencyEndpoint idempotencyHealthIndicator idempotencyInboxEndpoint idempotencyMeterEventListener idempotencyObservationListener",
        "idempotency-operators.*, idempotencyInboxEndpoint",
        "(idempotency-(kafka|operators)|spring-(kafka|messaging|boot-kafka)|kafka-).*, idempotencyInboxEndpoint",
        "(spring-(kafka|boot-kafka)|kafka-).*, idempotencyInboxEndpoint",
        "'(spring-boot-)?flyway-.*', ''",
        "'(HikariCP|postgresql|json-path).*', ''",
        "'(spring-(orm|web|webmvc|data)|hibernate|jakarta.persistence|tomcat|spring-boot-(web|servlet|tomcat|hibernate|jpa|data)).*', ''"
    })
    void withoutALibraryThereIsAllButWhatNeedsIt(String jars, String missing) throws Exception {
        List<String> gone =
                Stream.of(missing.split(" ")).filter(name -> !name.isEmpty()).toList();
        assertThat(beansWithout(jars))
                .containsAll(
                        WITH_ALL.stream().filter(name -> !gone.contains(name)).toList())
                .noneMatch(gone::contains);
    }

    private static List<Object> beansWithout(String jars) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader lacking =
                new URLClassLoader(classPathWithout(jars), ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(lacking);
            Object beans = lacking.loadClass(Application.class.getName())
                    .getMethod("beans")
                    .invoke(null);
            return List.of((Object[]) beans);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL[] classPathWithout(String jars) throws MalformedURLException {
        Pattern pattern = Pattern.compile(jars);
        List<Path> paths = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(path -> !pattern.matcher(nameOf(path)).matches())
                .toList();
        URL[] urls = new URL[paths.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = paths.get(i).toUri().toURL();
        }
        return urls;
    }

    /** The name of the jar, or of the module that the folder of classes belongs to. */
    private static String nameOf(Path path) {
        return (path.endsWith("classes") ? path.getName(path.getNameCount() - 3) : path.getFileName()).toString();
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
                "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration"
            })
    public static class Application {

        public static String[] beans() {
            // The migration uses classes of the pool, if they are present.
            boolean migrates = !ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", null);
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .registerShutdownHook(false)
                    .properties(
                            "spring.main.banner-mode=off",
                            "spring.datasource.url=jdbc:h2:mem:optional;DB_CLOSE_DELAY=-1",
                            "spring.datasource.type=" + SimpleDriverDataSource.class.getName(),
                            "spring.flyway.enabled=false",
                            "spring.liquibase.enabled=false",
                            "management.endpoints.jmx.exposure.include=*",
                            "spring.jmx.enabled=true",
                            "idempotency.schema.mode=" + (migrates ? "migrate" : "none"))
                    .run()) {
                return context.getBeanDefinitionNames();
            }
        }
    }
}
