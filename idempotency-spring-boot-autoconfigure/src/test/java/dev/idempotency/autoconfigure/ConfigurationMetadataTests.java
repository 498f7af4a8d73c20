package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.StartupCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;

/** The metadata of properties, as shown by editors. */
class ConfigurationMetadataTests {

    private static final String METADATA = "META-INF/spring-configuration-metadata.json";

    @Test
    void everyCheckThatCanBeRelaxedIsOfferedWithWhatItFinds() throws IOException {
        String hint = "$.hints[?(@.name == 'idempotency.checks.relaxed')].values[*]";
        List<String> names = JsonPath.read(metadata(), hint + ".value");
        assertThat(names)
                .containsExactlyInAnyOrderElementsOf(Stream.of(StartupCheck.values())
                        .filter(check -> !check.isIndispensable())
                        .map(StartupCheck::toString)
                        .toList());
        assertThat(JsonPath.<List<String>>read(metadata(), hint + ".description"))
                .hasSameSizeAs(names)
                .noneMatch(String::isBlank);
    }

    @Test
    void everyPropertyIsDescribed() throws IOException {
        List<String> ours = JsonPath.read(metadata(), "$.properties[?(@.name =~ /idempotency\\..*/)].name");
        assertThat(JsonPath.<List<String>>read(metadata(), "$.properties[?(@.name =~ /idempotency\\..*/)].description"))
                .hasSameSizeAs(ours)
                .noneMatch(description -> description.isBlank() || description.contains("{@"));
    }

    @Test
    void everyHintIsOfAPropertyThatThereIs() throws IOException {
        List<String> properties = JsonPath.read(metadata(), "$.properties[*].name");
        assertThat(properties).containsAll(JsonPath.<List<String>>read(metadata(), "$.hints[*].name"));
    }

    private static String metadata() throws IOException {
        return new ClassPathResource(METADATA).getContentAsString(StandardCharsets.UTF_8);
    }
}
