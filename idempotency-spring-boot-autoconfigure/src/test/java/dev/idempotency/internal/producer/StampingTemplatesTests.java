package dev.idempotency.internal.producer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.autoconfigure.IdempotencyProducerAutoConfiguration;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.core.RoutingKafkaTemplate;
import org.springframework.kafka.support.serializer.JacksonJsonSerializer;

/** Which templates stamp ids: all that are beans, even in an application without a database. */
class StampingTemplatesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(KafkaAutoConfiguration.class, IdempotencyProducerAutoConfiguration.class));

    private final ApplicationContextRunner stamping =
            this.runner.withPropertyValues("idempotency.producer.stamp-ids=yes");

    private static @Nullable ProducerInterceptor<?, ?> interceptorOf(Object template) {
        return SpringKafkaInternals.producerInterceptorOf((KafkaTemplate<?, ?>) template);
    }

    @SuppressWarnings("unchecked")
    private static Headers headersSent(Object template, Object value) {
        var interceptor = (ProducerInterceptor<Object, Object>) interceptorOf(template);
        return interceptor.onSend(new ProducerRecord<>("topic", value)).headers();
    }

    @Test
    void aTemplateDerivesIdsFromWhatItsSerializersMakeOfRecords() {
        ApplicationContextRunner json = this.stamping.withPropertyValues(
                "spring.kafka.producer.value-serializer=" + JacksonJsonSerializer.class.getName());
        json.run(context -> assertThatIdsDependOnValues(context.getBean("kafkaTemplate")));
        json.withUserConfiguration(Templates.class)
                .run(context -> assertThatIdsDependOnValues(context.getBean("routing")));
    }

    private static void assertThatIdsDependOnValues(Object template) {
        assertThat(derivedId(template, Map.of("order", 1)))
                .isEqualTo(derivedId(template, Map.of("order", 1)))
                .isNotEqualTo(derivedId(template, Map.of("order", 2)));
    }

    private static String derivedId(Object template, Object value) {
        IdempotencyContextHolder.Scope scope = IdempotencyContextHolder.open(List.of(MessageId.of("billing", "1")));
        String headers = headersSent(template, value).toString();
        scope.close();
        return headers;
    }

    @Test
    void nothingIsStampedUnlessItIsAskedFor() {
        this.runner.run(context ->
                assertThat(interceptorOf(context.getBean(KafkaTemplate.class))).isNull());
        this.stamping.withPropertyValues("idempotency.enabled=false").run(context -> assertThat(
                        interceptorOf(context.getBean(KafkaTemplate.class)))
                .isNull());
    }

    @Test
    void aValueThatIsNeitherTrueNorFalseIsRefused() {
        this.runner.withPropertyValues("idempotency.producer.stamp-ids=perhaps").run(context -> assertThat(context)
                .hasFailed());
    }

    @Test
    void aTemplateOfTheApplicationStampsBesideItsOwnInterceptor() {
        this.stamping.withUserConfiguration(Templates.class).run(context -> assertThat(
                        headersSent(context.getBean("plain"), "value"))
                .extracting(header -> header.key())
                .containsExactly("seen", "message-id"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Templates {

        @Bean
        KafkaTemplate<Object, Object> plain() {
            KafkaTemplate<Object, Object> template = new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(Map.of()));
            template.setProducerInterceptor(new Seeing());
            return template;
        }

        @Bean
        RoutingKafkaTemplate routing(ProducerFactory<Object, Object> factory) {
            return new RoutingKafkaTemplate(Map.of(Pattern.compile(".*"), factory));
        }
    }

    static class Seeing extends MessageIdInterceptorTests.Interceptor {

        @Override
        public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
            record.headers().add("seen", new byte[] {1});
            return record;
        }
    }
}
