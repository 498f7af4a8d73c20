package dev.idempotency.internal.result;

import dev.idempotency.result.ResultConverter;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON by the application's own mapper, in plain ASCII, which every database accepts whatever its encoding.
 *
 * <p>A result must be read without losing a part: a property may be read-only, or the class may have changed since, and most
 * mappers ignore unknown properties.
 */
public final class JacksonResultConverter implements ResultConverter {

    private final Supplier<@Nullable JsonMapper> mapper;

    public JacksonResultConverter(Supplier<@Nullable JsonMapper> mapper) {
        this.mapper = mapper;
    }

    @Override
    public String write(@Nullable Object result, Type type) {
        JsonMapper json = mapper();
        return json.writerFor(json.constructType(type))
                .with(JsonWriteFeature.ESCAPE_NON_ASCII)
                .writeValueAsString(result);
    }

    /** Times keep their offset. */
    @Override
    public @Nullable Object read(String text, Type type) {
        JsonMapper json = mapper();
        Object result = json.readerFor(json.constructType(type))
                .without(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .readValue(text);
        String again = write(result, type);
        if (!again.equals(text)) {
            Set<String> lost = partsOf(json, text);
            lost.removeAll(partsOf(json, again));
            if (!lost.isEmpty()) {
                String part = lost.iterator().next();
                throw new IllegalStateException(
                        part.substring(0, part.indexOf('=')) + " is lost, or has another value, when it is read again");
            }
        }
        return result;
    }

    /** All values with their paths; elements of an array share theirs, as sets have no order. */
    private static Set<String> partsOf(JsonMapper json, String text) {
        Set<String> parts = new TreeSet<>();
        JsonNode tree = json.reader()
                .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .readTree(text);
        addPartsOf(tree, "", parts);
        return parts;
    }

    private static void addPartsOf(JsonNode node, String path, Set<String> parts) {
        if (node.isObject()) {
            node.properties().forEach(part -> addPartsOf(part.getValue(), path + "/" + part.getKey(), parts));
        } else if (node.isArray()) {
            node.forEach(element -> addPartsOf(element, path + "[]", parts));
        } else if (!node.isNull()) {
            parts.add(path + "=" + (node.isNumber() ? node.decimalValue().stripTrailingZeros() : node));
        }
    }

    private JsonMapper mapper() {
        JsonMapper json = this.mapper.get();
        if (json == null) {
            throw new IllegalStateException(
                    "the application has no JsonMapper bean, or several and none that is primary."
                            + " Add spring-boot-starter-json, or define a ResultConverter");
        }
        return json;
    }
}
