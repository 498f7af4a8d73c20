package dev.idempotency.kafka;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.util.StringUtils;

/**
 * Producers that send bytes as they are.
 *
 * <p>They have the application's producer settings except for those on which it depends that nothing is lost, and they
 * wait for a broker or a topic for seconds only, as somebody waits with them.
 */
public final class RawProducers {

    private static final Map<String, Object> SETTINGS = Map.of(
            ProducerConfig.ACKS_CONFIG, "all",
            ProducerConfig.LINGER_MS_CONFIG, 0,
            ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 20_000);

    private RawProducers() {}

    /**
     * A factory of such producers, to be destroyed by whoever asked for it.
     *
     * @param applications the application's own, whose brokers and settings they have
     * @param applicationName by which they are known where the application's own have no client id
     * @param purpose what they are for, by which they are told from the application's own
     */
    public static DefaultKafkaProducerFactory<byte[], byte[]> like(
            ProducerFactory<?, ?> applications, @Nullable String applicationName, String purpose) {
        return of(applications.getConfigurationProperties(), applicationName, purpose);
    }

    /**
     * The same of settings that are no factory's.
     *
     * @param settings the application's producer settings
     */
    public static DefaultKafkaProducerFactory<byte[], byte[]> of(
            Map<String, Object> settings, @Nullable String applicationName, String purpose) {
        Map<String, Object> configuration = new HashMap<>(settings);
        configuration.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        configuration.putAll(SETTINGS);
        Object name = configuration.getOrDefault(ProducerConfig.CLIENT_ID_CONFIG, applicationName);
        configuration.put(
                ProducerConfig.CLIENT_ID_CONFIG,
                StringUtils.hasText((String) name) ? name + "-idempotency-" + purpose : "idempotency-" + purpose);
        return new DefaultKafkaProducerFactory<>(configuration, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
