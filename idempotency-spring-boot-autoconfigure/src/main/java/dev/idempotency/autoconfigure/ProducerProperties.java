package dev.idempotency.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.producer}: ids where messages are made.
 *
 * @param stampIds whether the application's KafkaTemplates stamp an id on records that have none
 */
@ConfigurationProperties("idempotency.producer")
public record ProducerProperties(@DefaultValue("false") boolean stampIds) {}
