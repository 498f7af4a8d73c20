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
 * whose class has changed would be given again with a part of it missing. So is what a result of a subclass has beside.
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
        if (result != null && result.getClass() != json.constructType(type).getRawClass()) {
            requireNothingLost(
                    json.readTree(json.writeValueAsString(result)),
                    json.readTree(text),
                    "is a part of its class, %s, and not of the type that was asked for"
                            .formatted(result.getClass().getName()));
        }
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
        Object result = json.readerFor(json.constructType(type)).readValue(text);
        String again = write(json, result, type);
        if (!again.equals(text)) {
            requireNothingLost(
                    json.readTree(text), json.readTree(again), "was written, and is passed over when it is read again");
        }
        return result;
    }

    private static void requireNothingLost(JsonNode whole, JsonNode left, String how) {
        Set<String> lost = partsOf(whole);
        lost.removeAll(partsOf(left));
        if (!lost.isEmpty()) {
            throw new IllegalStateException(lost.iterator().next() + " " + how);
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
