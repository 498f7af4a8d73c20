package dev.idempotency.internal.producer;

import dev.idempotency.internal.kafka.SpringKafkaInternals;
import dev.idempotency.key.MessageIdHeader;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.RoutingKafkaTemplate;

/** Makes every {@code KafkaTemplate} bean stamp ids, beside the interceptor that its bean method has set. */
public final class KafkaTemplatePostProcessor implements BeanPostProcessor {

    private static final Logger logger = LoggerFactory.getLogger(KafkaTemplatePostProcessor.class);

    private final Supplier<List<String>> headers;

    /** {@code headers} that may carry a message's id; asked when there is a template. */
    public KafkaTemplatePostProcessor(Supplier<List<String>> headers) {
        this.headers = headers;
    }

    /** Runs before the template may be proxied. */
    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (bean instanceof KafkaTemplate<?, ?> template) {
            install(template, beanName);
        }
        return bean;
    }

    private <K, V> void install(KafkaTemplate<K, V> template, String beanName) {
        ProducerInterceptor<K, V> applications = SpringKafkaInternals.producerInterceptorOf(template);
        template.setProducerInterceptor(new MessageIdInterceptor<>(
                this.headers.get(),
                topic -> (template instanceof RoutingKafkaTemplate routing)
                        ? routing.getProducerFactory(topic)
                        : template.getProducerFactory(),
                applications));
        logger.info("KafkaTemplate '{}' stamps {} on records that have no id.", beanName, MessageIdHeader.HEADER);
    }
}
