package dev.idempotency.result;

import java.lang.reflect.Type;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON by the application's own mapper, in plain ASCII: so every database takes it, whatever its encoding.
 *
 * <p>What was written and is not read by the type is an error, as most mappers pass over what they do not know: a result
 * whose class has changed would be given again with a part of it missing.
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

    @Override
    public @Nullable Object read(String text, Type type) {
        JsonMapper json = mapper();
        Object result = json.readerFor(json.constructType(type)).readValue(text);
        String again = write(result, type);
        if (!again.equals(text)) {
            requireNothingLost(json.readTree(text), json.readTree(again));
        }
        return result;
    }

    private static void requireNothingLost(JsonNode written, JsonNode read) {
        Set<String> lost = partsOf(written);
        lost.removeAll(partsOf(read));
        if (!lost.isEmpty()) {
            throw new IllegalStateException(
                    lost.iterator().next() + " was written, and is passed over when it is read again");
        }
    }

    /** The paths of all that has a value; elements of an array share theirs, as sets have no order. */
    private static Set<String> partsOf(JsonNode tree) {
        Set<String> paths = new TreeSet<>();
        addPartsOf(tree, "", paths);
        return paths;
    }

    private static void addPartsOf(JsonNode node, String path, Set<String> paths) {
        if (node.isObject()) {
            node.properties().forEach(part -> addPartsOf(part.getValue(), path + "/" + part.getKey(), paths));
        } else if (node.isArray()) {
            node.forEach(element -> addPartsOf(element, path + "[]", paths));
        } else if (!node.isNull()) {
            paths.add(path);
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
