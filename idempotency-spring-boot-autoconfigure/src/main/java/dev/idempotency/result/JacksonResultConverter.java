package dev.idempotency.result;

import java.lang.reflect.Type;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/** JSON by the application's own mapper, in plain ASCII: so every database takes it, whatever its encoding. */
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
        return json.readerFor(json.constructType(type)).readValue(text);
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
