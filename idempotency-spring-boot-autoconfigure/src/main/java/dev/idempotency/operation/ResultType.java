package dev.idempotency.operation;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The type of a result, which has to say as what the result is to be read again. */
final class ResultType {

    private ResultType() {}

    /** Refuses a class of which nobody knows what its parts are. */
    static Type of(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        if (element == Object.class || element.getTypeParameters().length > 0) {
            throw new IllegalArgumentException(
                    ("There is no telling as what a result of type %s is to be read again: its parts would come back as maps"
                                    + " and lists. Name the type in full, as in new"
                                    + " ParameterizedTypeReference<List<Receipt>>() {}, or a class of its own.")
                            .formatted(type.getTypeName()));
        }
        return type;
    }

    /** Refuses a type with a variable, in place of which nobody knows what to read. */
    static Type of(Type type) {
        if (isOpen(type)) {
            throw new IllegalArgumentException(
                    ("There is no telling as what a result of type %s is to be read again. Name the type in full where it is"
                                    + " known, and hand it on.")
                            .formatted(type.getTypeName()));
        }
        return (type instanceof Class<?> plain) ? of(plain) : type;
    }

    private static boolean isOpen(@Nullable Type type) {
        if (type instanceof ParameterizedType parameterized) {
            return isOpen(parameterized.getOwnerType()) || anyIsOpen(parameterized.getActualTypeArguments());
        }
        if (type instanceof WildcardType wildcard) {
            return anyIsOpen(wildcard.getUpperBounds()) || anyIsOpen(wildcard.getLowerBounds());
        }
        return (type instanceof GenericArrayType array)
                ? isOpen(array.getGenericComponentType())
                : type instanceof TypeVariable<?>;
    }

    private static boolean anyIsOpen(Type[] types) {
        return Stream.of(types).anyMatch(ResultType::isOpen);
    }
}
