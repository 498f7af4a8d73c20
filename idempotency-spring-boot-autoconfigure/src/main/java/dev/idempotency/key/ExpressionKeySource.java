package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.TopicCoordinates;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/** A SpEL expression, parsed and checked once. */
public final class ExpressionKeySource implements KeySource {

    private static final String KEY = "key";
    private static final String VERSION = "version";

    private static final String JSON_PATH = "com.jayway.jsonpath.JsonPath";

    private final SpelExpression expression;
    private final List<String> argumentNames;
    private final StandardEvaluationContext shared;
    private final @Nullable Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates;
    private final Set<String> variables;

    /**
     * Parses the expression.
     *
     * @param expression the expression
     * @param argumentNames the names of the listener's arguments, in their order
     * @param beanFactory where {@code @bean} references lead
     * @param coordinates who is asked for {@code #coordinates}, if the expression names them: those of a record, or of
     *     the one that it is a copy of
     * @throws IllegalArgumentException if it does not parse, or names what there is not: a variable, a function,
     *     a bean, a type
     */
    public ExpressionKeySource(
            String expression,
            List<String> argumentNames,
            BeanFactory beanFactory,
            Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates) {
        this(KEY, expression, argumentNames, beanFactory, coordinates);
    }

    /**
     * Parses an expression for the version of messages.
     *
     * @param argumentNames the names of the listener's arguments, in their order
     * @throws IllegalArgumentException if it does not parse, or names what there is not
     */
    public static ExpressionKeySource ofVersion(
            String expression,
            List<String> argumentNames,
            BeanFactory beanFactory,
            Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates) {
        return new ExpressionKeySource(VERSION, expression, argumentNames, beanFactory, coordinates);
    }

    private ExpressionKeySource(
            String role,
            String expression,
            List<String> argumentNames,
            BeanFactory beanFactory,
            Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates) {
        this.argumentNames = List.copyOf(argumentNames);
        ClassLoader classLoader = ClassUtils.getDefaultClassLoader();
        this.expression = KeyExpressionParser.parse(role, expression, role.equals(KEY), classLoader);
        this.shared = new StandardEvaluationContext();
        this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
        this.shared.setTypeConverter(new StandardTypeConverter(DefaultConversionService.getSharedInstance()));
        this.shared.setTypeLocator(new StandardTypeLocator(classLoader));
        this.shared.setMethodResolvers(List.of(new TextMethodResolver()));
        this.shared.addPropertyAccessor(new MapAccessor());
        Set<String> known = new LinkedHashSet<>(MessageVariables.NAMES);
        known.addAll(argumentNames);
        if (ClassUtils.isPresent(JSON_PATH, classLoader)) {
            this.shared.registerFunction(JsonPathFunction.NAME, JsonPathFunction.METHOD);
        }
        KeyReferences references = new KeyReferences(role, this.expression, known, this.shared, beanFactory);
        references.requireAll();
        this.coordinates = references.isNamed(MessageVariables.COORDINATES) ? coordinates : null;
        this.variables = known.stream()
                .filter(variable -> !MessageVariables.OF_RECORD.contains(variable))
                .filter(references::isNamed)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public Set<String> variables() {
        return this.variables;
    }

    @Override
    public @Nullable String keyOf(MessageView message) {
        return KeyText.of(valueOf(message));
    }

    /** What the expression gives for a message, or {@code null} if that is absent. */
    @Nullable
    Object valueOf(MessageView message) {
        TopicCoordinates coordinates = (this.coordinates != null) ? this.coordinates.apply(message.record()) : null;
        try {
            return KeyText.contentOf(this.expression.getValue(
                    new MessageVariables(this.shared, message, coordinates, this.argumentNames)));
        } catch (NoKeyException ex) {
            return null;
        } catch (SpelEvaluationException ex) {
            if (leadsThroughNull(ex)) {
                return null;
            }
            throw new InvalidMessageKeyException("it cannot be evaluated: " + ex.getMessage(), ex);
        } catch (ExpressionException | IllegalStateException ex) {
            throw new InvalidMessageKeyException("it cannot be evaluated: " + ex.getMessage(), ex);
        }
    }

    /** A tombstone, or an optional part that is absent: there is no key, rather than a wrong one. */
    private static boolean leadsThroughNull(SpelEvaluationException ex) {
        SpelMessage code = ex.getMessageCode();
        return code == SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL
                || code == SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED
                || code == SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE;
    }

    @Override
    public String toString() {
        return "expression '" + this.expression.getExpressionString() + "'";
    }
}
