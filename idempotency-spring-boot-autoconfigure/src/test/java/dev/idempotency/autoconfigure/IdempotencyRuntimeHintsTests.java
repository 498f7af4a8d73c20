package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.internal.kafka.CapturingDeserializer;
import dev.idempotency.internal.listener.IdempotentListenerEnhancer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.javapoet.ClassName;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.util.ClassUtils;

/** The runtime hints for a native image of an application with a protected listener. */
class IdempotencyRuntimeHintsTests {

    private static final RuntimeHints HINTS = hintsOfAnApplication();

    private static RuntimeHints hintsOfAnApplication() {
        DefaultGenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get(IdempotencyRuntimeHintsTests.class)),
                new InMemoryGeneratedFiles());
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of(
                            "management.endpoints.web.exposure.include=*",
                            "management.endpoints.jmx.exposure.include=*")
                    .applyTo(context);
            context.register(Application.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        // The build calls this registrar; the context above registers only the hints of its beans.
        new IdempotencyRuntimeHints()
                .registerHints(generation.getRuntimeHints(), IdempotencyRuntimeHintsTests.class.getClassLoader());
        return generation.getRuntimeHints();
    }

    private static void assertRegistered(Predicate<RuntimeHints> hint) {
        assertThat(HINTS).matches(hint);
    }

    @Test
    void theRegistrarIsFoundByTheBuild() {
        assertThat(SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
                        .load(RuntimeHintsRegistrar.class))
                .hasAtLeastOneElementOfType(IdempotencyRuntimeHints.class);
    }

    @Test
    void theScriptsOfAllDatabasesAreThere() throws IOException {
        Resource[] scripts =
                new PathMatchingResourcePatternResolver().getResources("classpath:dev/idempotency/schema/*/*.sql");
        assertThat(scripts).hasSize(4);
        for (Resource script : scripts) {
            String path = script.getURL().getPath();
            assertRegistered(resource().forResource(path.substring(path.indexOf("dev/idempotency/schema"))));
        }
    }

    @Test
    void whatIsFoundByNameOrByExpressionsCanBeCalled() throws Exception {
        assertRegistered(
                reflection().onFieldAccess("org.springframework.kafka.listener.FailedRecordTracker", "recoverer"));
        assertRegistered(reflection().onMethodInvocation(IdempotentListenerEnhancer.class, "postProcessor"));
        assertRegistered(reflection().onMethodInvocation(ConsumerRecord.class, "key"));
        assertRegistered(reflection().onMethodInvocation(Order.class, "id"));
        assertRegistered(reflection().onMethodInvocation(Line.class, "article"));
        assertRegistered(reflection().onConstructorInvocation(CapturingDeserializer.class.getConstructor()));
        assertRegistered(reflection().onMethodInvocation(JpaTransactionManager.class, "getDataSource"));
    }

    @ParameterizedTest
    @ValueSource(classes = {IdempotencyProperties.class, ErrorsProperties.class, IdempotencyProperties.Cleanup.class})
    void propertiesCanBeBound(Class<?> properties) {
        assertRegistered(reflection().onConstructorInvocation(properties.getDeclaredConstructors()[0]));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ConsumerReports$Report",
                "ConsumerReports$ConsumerReport",
                "ConsumerReports$CleanupReport$Success",
                "IdempotencyEndpoint$MessageReport",
                "IdempotencyInboxEndpoint$PageReport",
                "InboxMessageReport$Entry",
                "InboxMessageReport",
                "InboxMessageReport$Bytes",
                "IdempotencyInboxEndpoint$ReplayReport"
            })
    void theAnswersOfEndpointsCanBeWritten(String report) {
        Class<?> type =
                ClassUtils.resolveClassName(ClassUtils.getPackageName(IdempotencyEndpoint.class) + "." + report, null);
        Arrays.stream(type.getRecordComponents())
                .forEach(component -> assertRegistered(reflection().onMethodInvocation(component.getAccessor())));
    }

    @Test
    void theListenersProxyIsMadeAheadOfTime() {
        assertThat(HINTS.reflection().typeHints())
                .extracting(hint -> hint.getType().getName())
                .contains(Listener.class.getName() + "$$SpringCGLIB$$0");
    }

    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        DataSourceTransactionManagerAutoConfiguration.class,
        TransactionAutoConfiguration.class,
        KafkaAutoConfiguration.class,
        IdempotencyStoreAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyCheckAutoConfiguration.class,
        IdempotencyListenerAutoConfiguration.class,
        IdempotencyOperatorsAutoConfiguration.class,
        IdempotencyEndpointAutoConfiguration.class
    })
    @Import(Listener.class)
    static class Application {}

    record Order(String id, List<Line> lines) {}

    record Line(String article) {}

    static class Listener {

        @KafkaListener(topics = "orders", groupId = "orders")
        @IdempotentListener(key = "#payload.id + #record.key()")
        void onOrder(Order order) {}
    }
}
