package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.support.ReflectiveMethodExecutor;
import org.springframework.expression.spel.support.ReflectiveMethodResolver;

/**
 * Finds methods as SpEL does, and looks at what the JDK's own make a text of ({@code String.format}, {@code join},
 * {@code toString()} of a list): nothing in it may be absent, or have no text but its identity.
 */
final class TextMethodResolver extends ReflectiveMethodResolver {

    @Override
    public @Nullable MethodExecutor resolve(
            EvaluationContext context, Object target, String name, List<TypeDescriptor> argumentTypes)
            throws AccessException {
        MethodExecutor executor = super.resolve(context, target, name, argumentTypes);
        if (!(executor instanceof ReflectiveMethodExecutor reflective)) {
            return executor;
        }
        Method method = reflective.getMethod();
        if (method.getName().equals("toString") && method.getParameterCount() == 0) {
            return (itsContext, itsTarget, arguments) -> {
                requireText(itsTarget);
                return reflective.execute(itsContext, itsTarget, arguments);
            };
        }
        boolean makesText = CharSequence.class.isAssignableFrom(method.getReturnType())
                && method.getDeclaringClass().getName().startsWith("java.")
                && method.getParameterCount() > 0;
        return makesText ? new TextMethod(reflective, method) : executor;
    }

    private static void requireText(@Nullable Object given) {
        Object value = KeyText.contentOf(given);
        if (value == null) {
            throw new NoKeyException();
        }
        if (value instanceof Map<?, ?> map) {
            map.values().forEach(TextMethodResolver::requireElement);
        } else if (value instanceof Collection<?> elements) {
            elements.forEach(TextMethodResolver::requireElement);
        } else if (!KeyText.isStable(value)) {
            requireSameText(value);
        }
    }

    /** What the application calls a text is taken for one, unless it shows what no two deliveries have in common. */
    private static void requireSameText(Object value) {
        String why = null;
        if (!KeyText.hasOwnText(value)) {
            why = "has no text but its identity";
        } else if (KeyText.isOfDelivery(value)) {
            why = "carries the message, with what it got on its way";
        } else if (KeyText.showsIdentity(value.toString())) {
            why = "has within its text the identity of something without one, such as an array";
        }
        if (why != null) {
            throw new InvalidMessageKeyException(
                    "a part of it is a %s, which %s: another one at every delivery"
                            .formatted(value.getClass().getName(), why),
                    null);
        }
    }

    /** Beside others in a text: alone it would be seen to be none. */
    private static void requireElement(@Nullable Object element) {
        requireText(element);
        Object value = KeyText.contentOf(element);
        if (value != null && KeyText.isBlank(value)) {
            throw new NoKeyException();
        }
    }

    /** A method of the JDK that makes a text of its arguments. */
    private record TextMethod(ReflectiveMethodExecutor executor, Method method) implements MethodExecutor {

        @Override
        public TypedValue execute(EvaluationContext context, Object target, @Nullable Object... arguments)
                throws AccessException {
            if (this.method.getName().equals("concat") && target instanceof String text && MessageId.isNoKey(text)) {
                throw new NoKeyException();
            }
            for (int i = 0; i < arguments.length; i++) {
                if (takesAnything(i)) {
                    requireTextOf(arguments[i]);
                }
            }
            return this.executor.execute(context, target, arguments);
        }

        /** Parameters of other types, such as {@code byte[]}, are there to be read. */
        private boolean takesAnything(int argument) {
            Class<?>[] parameters = this.method.getParameterTypes();
            Class<?> type = parameters[Math.min(argument, parameters.length - 1)];
            if (this.method.isVarArgs() && argument >= parameters.length - 1) {
                type = parameters[parameters.length - 1].getComponentType();
            }
            return type == Object.class
                    || type == Object[].class
                    || Iterable.class.isAssignableFrom(type)
                    || type == CharSequence.class;
        }

        /** An array stands for its elements where the method takes any number of them. */
        private void requireTextOf(@Nullable Object argument) {
            if (argument instanceof Object[] elements
                    && (this.method.isVarArgs() || this.method.getParameterTypes()[0] == Object[].class)) {
                Arrays.asList(elements).forEach(TextMethodResolver::requireElement);
            } else {
                requireText(argument);
            }
        }
    }
}
