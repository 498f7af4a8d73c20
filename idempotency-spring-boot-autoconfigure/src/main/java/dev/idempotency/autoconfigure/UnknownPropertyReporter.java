package dev.idempotency.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** Warns of properties under {@code idempotency} that do not exist, such as misspelled ones. */
record UnknownPropertyReporter(Environment environment) implements InitializingBean {

    private static final Logger logger = LoggerFactory.getLogger(UnknownPropertyReporter.class);

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("idempotency");
    private static final String METADATA = "classpath*:META-INF/spring-configuration-metadata.json";
    private static final Pattern NAME = Pattern.compile("\"name\": \"(idempotency\\.[a-z.-]+)\"");

    @Override
    public void afterPropertiesSet() {
        List<ConfigurationPropertyName> known = knownProperties();
        if (known.isEmpty()) {
            return;
        }
        // Not the operating system's environment, which has other names, such as Kubernetes' service variables.
        UnboundElementsSourceFilter filter = new UnboundElementsSourceFilter();
        StreamSupport.stream(ConfigurationPropertySources.get(this.environment).spliterator(), false)
                .filter(filter::apply)
                .filter(IterableConfigurationPropertySource.class::isInstance)
                .flatMap(source -> ((IterableConfigurationPropertySource) source).stream())
                .filter(PREFIX::isAncestorOf)
                .filter(name -> known.stream().noneMatch(one -> one.equals(name) || one.isAncestorOf(name)))
                .distinct()
                .forEach(name -> logger.warn(
                        "Unknown property '{}' is ignored. Did you mean '{}'?", name, nearest(name.toString(), known)));
    }

    /** Reads names without a JSON parser, which the application need not have. */
    private static List<ConfigurationPropertyName> knownProperties() {
        try {
            List<ConfigurationPropertyName> known = new ArrayList<>();
            for (Resource file : new PathMatchingResourcePatternResolver().getResources(METADATA)) {
                String text = file.getContentAsString(StandardCharsets.UTF_8);
                NAME.matcher(text.substring(Math.max(0, text.indexOf("\"properties\""))))
                        .results()
                        .forEach(match -> known.add(ConfigurationPropertyName.of(match.group(1))));
            }
            return known;
        } catch (IOException ex) {
            logger.debug("Unknown properties cannot be reported", ex);
            return List.of();
        }
    }

    private static ConfigurationPropertyName nearest(String name, List<ConfigurationPropertyName> known) {
        return known.stream()
                .min(Comparator.comparingInt(one -> distance(one.toString(), name)))
                .orElseThrow();
    }

    /** Returns the Levenshtein distance. */
    private static int distance(String a, String b) {
        int[][] distances = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                distances[i][j] = (i == 0 || j == 0)
                        ? i + j
                        : Math.min(
                                distances[i - 1][j - 1] + ((a.charAt(i - 1) == b.charAt(j - 1)) ? 0 : 1),
                                1 + Math.min(distances[i - 1][j], distances[i][j - 1]));
            }
        }
        return distances[a.length()][b.length()];
    }
}
