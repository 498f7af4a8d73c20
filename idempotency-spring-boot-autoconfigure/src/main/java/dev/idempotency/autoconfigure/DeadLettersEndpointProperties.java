package dev.idempotency.autoconfigure;

import java.util.Set;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings for the endpoint of dead letters.
 *
 * @param showValues when to show keys, headers, payloads and errors of dead letters
 * @param roles roles used to determine whether a user is authorized to be shown them; if empty, all authenticated users
 *     are
 */
@ConfigurationProperties("management.endpoint.idempotencydeadletters")
public record DeadLettersEndpointProperties(
        @DefaultValue("never") Show showValues,
        @DefaultValue Set<String> roles) {}
