package dev.idempotency.internal.key;

import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.PathNotFoundException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** {@code #jsonPath(#payload, '$.id')}: reads raw JSON with Jayway JsonPath, where that is on the class path. */
final class JsonPathFunction {

    static final String NAME = "jsonPath";

    static final Method METHOD = ClassUtils.getMethod(JsonPathFunction.class, "read", Object.class, String.class);

    private JsonPathFunction() {}

    public static @Nullable Object read(@Nullable Object json, @Nullable String path) {
        if (json == null || path == null) {
            return null;
        }
        String text = (json instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : json.toString();
        try {
            return JsonPath.read(text, path);
        } catch (PathNotFoundException ex) {
            return null;
        }
    }
}
