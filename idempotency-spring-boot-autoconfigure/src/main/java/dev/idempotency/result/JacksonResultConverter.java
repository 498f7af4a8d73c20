package dev.idempotency.result;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON by the application's own mapper, in plain ASCII: so every database takes it, whatever its encoding.
 *
 * <p>A result that is written, read and written again must be the same, or callers would get different ones. A result that
 * was kept must be read without losing a part: its class may have changed, and most mappers ignore what they do not know.
 */
public final class JacksonResultConverter implements ResultConverter {

    private final Supplier<@Nullable JsonMapper> mapper;

    public JacksonResultConverter(Supplier<@Nullable JsonMapper> mapper) {
        this.mapper = mapper;
    }

    /** A subclass is written as the type says: what it has beside would be lost to all callers. */
    @Override
    public String write(@Nullable Object result, Type type) {
        JsonMapper json = mapper();
        String text = write(json, result, type);
        if (result == null) {
            return text;
        }
        if (result.getClass() != json.constructType(type).getRawClass()) {
            requireNothingLost(
                    partsOf(json, json.writeValueAsString(result)),
                    partsOf(json, text),
                    "is a part of its class, %s, and not of the type that was asked for"
                            .formatted(result.getClass().getName()));
        }
        requireSame(json, text, write(json, read(json, text, type), type));
        return text;
    }

    private static String write(JsonMapper json, @Nullable Object result, Type type) {
        return json.writerFor(json.constructType(type))
                .with(JsonWriteFeature.ESCAPE_NON_ASCII)
                .writeValueAsString(result);
    }

    @Override
    public @Nullable Object read(String text, Type type) {
        JsonMapper json = mapper();
        Object result = read(json, text, type);
        String again = write(json, result, type);
        if (!again.equals(text)) {
            requireNothingLost(
                    partsOf(json, text), partsOf(json, again), "was written, and is passed over when it is read again");
        }
        return result;
    }

    /** Times keep their offset, which is a part of them. */
    private static @Nullable Object read(JsonMapper json, String text, Type type) {
        return json.readerFor(json.constructType(type))
                .without(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .readValue(text);
    }

    private static void requireNothingLost(Map<String, Set<String>> whole, Map<String, Set<String>> left, String how) {
        for (String path : whole.keySet()) {
            if (!left.containsKey(path)) {
                throw new IllegalStateException(path + " " + how);
            }
        }
    }

    private static void requireSame(JsonMapper json, String text, String again) {
        if (again.equals(text)) {
            return;
        }
        Map<String, Set<String>> first = partsOf(json, text);
        Map<String, Set<String>> second = partsOf(json, again);
        Set<String> paths = new TreeSet<>(first.keySet());
        paths.addAll(second.keySet());
        for (String path : paths) {
            if (!Objects.equals(first.get(path), second.get(path))) {
                throw new IllegalStateException(
                        path + " has another value when it is read again, so that callers would get different results");
            }
        }
    }

    /** The values at each path; elements of an array share theirs, as sets have no order. */
    private static Map<String, Set<String>> partsOf(JsonMapper json, String text) {
        Map<String, Set<String>> parts = new TreeMap<>();
        addPartsOf(
                json.reader()
                        .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                        .readTree(text),
                "",
                parts);
        return parts;
    }

    private static void addPartsOf(JsonNode node, String path, Map<String, Set<String>> parts) {
        if (node.isObject()) {
            node.properties().forEach(part -> addPartsOf(part.getValue(), path + "/" + part.getKey(), parts));
        } else if (node.isArray()) {
            node.forEach(element -> addPartsOf(element, path + "[]", parts));
        } else if (!node.isNull()) {
            String value =
                    node.isNumber() ? node.decimalValue().stripTrailingZeros().toString() : node.toString();
            parts.computeIfAbsent(path, key -> new TreeSet<>()).add(value);
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
