package dev.idempotency.internal.result;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.stream.Stream;
import org.springframework.core.ResolvableType;

/** Types of results: only those that a result can be read as again. */
public final class ResultType {

    private ResultType() {}

    /** Refuses types that are completed later, and those whose parts are of unknown type. */
    public static Type of(Type type) {
        ResolvableType element = ResolvableType.forType(type);
        while (element.isArray()) {
            element = element.getComponentType();
        }
        if (isCompletedLater(element)) {
            throw new IllegalArgumentException(
                    ("A result of type %s is completed later, when the transaction is over. Wait for it in the work (join()"
                                    + " or block()), and return its value.")
                            .formatted(type.getTypeName()));
        }
        if (element.resolve(Object.class) == Object.class || element.hasUnresolvableGenerics()) {
            throw new IllegalArgumentException(
                    ("A result of type %s could not be read again: its parts would come back as maps and lists. Name the type"
                                    + " in full, as in new ParameterizedTypeReference<List<Receipt>>() {}, or use a class of"
                                    + " its own.")
                            .formatted(type.getTypeName()));
        }
        return type;
    }

    private static boolean isCompletedLater(ResolvableType type) {
        if (type.isArray()) {
            return isCompletedLater(type.getComponentType());
        }
        // A type variable may be bounded by itself.
        boolean hasParts = type.getType() instanceof ParameterizedType || type.getType() instanceof WildcardType;
        return AsynchronousResult.isOf(type.resolve(Object.class))
                || (hasParts && Stream.of(type.getGenerics()).anyMatch(ResultType::isCompletedLater));
    }
}
