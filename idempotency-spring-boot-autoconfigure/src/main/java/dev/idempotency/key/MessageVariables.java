package dev.idempotency.key;

import dev.idempotency.TopicCoordinates;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * The variables of an expression for one message. Everything but the variables is shared between messages, with the caches of
 * what it has looked up by reflection.
 */
final class MessageVariables implements EvaluationContext {

    static final String COORDINATES = "coordinates";

    static final List<String> NAMES = List.of("record", "payload", "headers", COORDINATES);

    /** Those that are known before the record has been converted. */
    static final List<String> OF_RECORD = List.of("record", "headers", COORDINATES);

    private final EvaluationContext shared;
    private final MessageView message;
    private final @Nullable TopicCoordinates coordinates;
    private final List<String> argumentNames;

    /**
     * Shows a message.
     *
     * @param coordinates where it stood first, or {@code null} if the expression does not ask for that
     */
    MessageVariables(
            EvaluationContext shared,
            MessageView message,
            @Nullable TopicCoordinates coordinates,
            List<String> argumentNames) {
        this.shared = shared;
        this.message = message;
        this.coordinates = coordinates;
        this.argumentNames = argumentNames;
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        return switch (name) {
            case "record" -> this.message.record();
            case "payload" -> this.message.payload();
            case "headers" -> headers();
            case COORDINATES -> this.coordinates;
            default -> {
                int argument = this.argumentNames.indexOf(name);
                yield (argument >= 0) ? this.message.argument(argument) : this.shared.lookupVariable(name);
            }
        };
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Header header : this.message.record().headers()) {
            if (header.value() != null) {
                headers.put(header.key(), HeaderDecoder.decode(header.value()));
            }
        }
        return headers;
    }

    @Override
    public void setVariable(String name, @Nullable Object value) {
        throw new UnsupportedOperationException("A key expression does not assign variables: #" + name);
    }

    @Override
    public TypedValue getRootObject() {
        return TypedValue.NULL;
    }

    @Override
    public List<PropertyAccessor> getPropertyAccessors() {
        return this.shared.getPropertyAccessors();
    }

    @Override
    public List<IndexAccessor> getIndexAccessors() {
        return this.shared.getIndexAccessors();
    }

    @Override
    public List<ConstructorResolver> getConstructorResolvers() {
        return this.shared.getConstructorResolvers();
    }

    @Override
    public List<MethodResolver> getMethodResolvers() {
        return this.shared.getMethodResolvers();
    }

    @Override
    public @Nullable BeanResolver getBeanResolver() {
        return this.shared.getBeanResolver();
    }

    @Override
    public TypeLocator getTypeLocator() {
        return this.shared.getTypeLocator();
    }

    @Override
    public TypeConverter getTypeConverter() {
        return this.shared.getTypeConverter();
    }

    @Override
    public TypeComparator getTypeComparator() {
        return this.shared.getTypeComparator();
    }

    @Override
    public OperatorOverloader getOperatorOverloader() {
        return this.shared.getOperatorOverloader();
    }
}
