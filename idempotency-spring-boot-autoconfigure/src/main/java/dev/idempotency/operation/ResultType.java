package dev.idempotency.operation;

import dev.idempotency.result.AsynchronousResult;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Types of results: only those that a result can be read as again. */
final class ResultType {

    private ResultType() {}

    /** Refuses types that are completed later, and those whose parts are of unknown type. */
    static Type of(Type type) {
        if (contains(type, part -> part instanceof Class<?> plain && AsynchronousResult.isOf(plain))) {
            throw new IllegalArgumentException(
                    ("A result of type %s is completed later, when the transaction is over. Wait for it in the work (join()"
                                    + " or block()), and return its value.")
                            .formatted(type.getTypeName()));
        }
        if (contains(type, TypeVariable.class::isInstance)) {
            throw new IllegalArgumentException(
                    ("A result of type %s could not be read again. Name the type in full where it is"
                                    + " known, and hand it on.")
                            .formatted(type.getTypeName()));
        }
        Type element = type;
        while (element instanceof Class<?> plain && plain.isArray()) {
            element = plain.getComponentType();
        }
        if (element == Object.class || (element instanceof Class<?> raw && raw.getTypeParameters().length > 0)) {
            throw new IllegalArgumentException(
                    ("A result of type %s could not be read again: its parts would come back as maps"
                                    + " and lists. Name the type in full, as in new"
                                    + " ParameterizedTypeReference<List<Receipt>>() {}, or a class of its own.")
                            .formatted(type.getTypeName()));
        }
        return type;
    }

    /** Whether a type, or one that it is made of, is such a class or type variable. */
    private static boolean contains(@Nullable Type type, Predicate<Type> leaf) {
        if (type instanceof ParameterizedType parameterized) {
            return contains(parameterized.getRawType(), leaf)
                    || contains(parameterized.getOwnerType(), leaf)
                    || anyContains(parameterized.getActualTypeArguments(), leaf);
        }
        if (type instanceof WildcardType wildcard) {
            return anyContains(wildcard.getUpperBounds(), leaf) || anyContains(wildcard.getLowerBounds(), leaf);
        }
        if (type instanceof GenericArrayType array) {
            return contains(array.getGenericComponentType(), leaf);
        }
        return (type instanceof Class<?> plain && plain.isArray())
                ? contains(plain.getComponentType(), leaf)
                : type != null && leaf.test(type);
    }

    private static boolean anyContains(Type[] types, Predicate<Type> leaf) {
        return Stream.of(types).anyMatch(type -> contains(type, leaf));
    }
}
