package dev.idempotency.internal.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.internal.kafka.TopicCoordinates;
import dev.idempotency.internal.store.MessageIdText;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.NativeDetector;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * A SpEL expression, parsed and checked once. The operands of a key's {@code +} are evaluated one by one: if one is
 * absent, there is no key, where SpEL would write the text {@code null}, the same for all messages.
 */
public final class ExpressionKeySource implements KeySource {

    /** All but the payload are known before the record has been converted. */
    public static final List<String> VARIABLES = List.of("record", "payload", "headers", "coordinates");

    private static final String JSON_PATH = "com.jayway.jsonpath.JsonPath";

    /** A tombstone, or an optional part that is absent: there is no key, rather than a wrong one. */
    private static final Set<SpelMessage> THROUGH_NULL = EnumSet.of(
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

    private final String text;
    private final List<SpelExpression> parts;
    private final List<String> argumentNames;
    private final StandardEvaluationContext shared;
    private final Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates;
    private final Set<String> named;
    private final Set<String> variables;

    /**
     * Parses an expression for the role {@code key}, {@code version} or {@code lock}; {@code coordinates} finds the coordinates
     * of a record's original. Throws an {@link IllegalArgumentException}, also for missing variables, functions, beans or
     * types.
     */
    public ExpressionKeySource(
            String role,
            String expression,
            List<String> argumentNames,
            BeanFactory beanFactory,
            Function<ConsumerRecord<?, ?>, TopicCoordinates> coordinates) {
        this.text = expression;
        this.coordinates = coordinates;
        this.argumentNames = List.copyOf(argumentNames);
        ClassLoader classLoader = ClassUtils.getDefaultClassLoader();
        // A native image cannot load the classes that the compiler makes.
        SpelParserConfiguration configuration = new SpelParserConfiguration(
                NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED, classLoader);
        this.shared = new StandardEvaluationContext();
        this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
        this.shared.setTypeConverter(new StandardTypeConverter(DefaultConversionService.getSharedInstance()));
        this.shared.setTypeLocator(new StandardTypeLocator(classLoader));
        this.shared.addPropertyAccessor(new MapAccessor());
        Set<String> known = new LinkedHashSet<>(VARIABLES);
        known.addAll(argumentNames);
        if (ClassUtils.isPresent(JSON_PATH, classLoader)) {
            this.shared.registerFunction(JsonPathFunction.NAME, JsonPathFunction.METHOD);
        }
        SpelExpression whole;
        try {
            whole = new SpelExpressionParser(configuration).parseRaw(expression);
            this.named = KeyReferences.find(whole, known, this.shared, beanFactory);
        } catch (ExpressionException | IllegalArgumentException ex) {
            String reason = (ex instanceof ExpressionException syntax)
                    ? "does not parse: " + syntax.getSimpleMessage()
                    : ex.getMessage();
            throw new IllegalArgumentException("The %s expression '%s' %s".formatted(role, expression, reason), ex);
        }
        this.variables = this.named.stream()
                .filter(name -> name.equals("payload") || !VARIABLES.contains(name))
                .collect(Collectors.toUnmodifiableSet());
        this.parts = role.equals("version") ? List.of(whole) : partsOf(whole, configuration);
    }

    /** The operands as they were parsed: the text that a node gives cannot always be parsed again. */
    private static List<SpelExpression> partsOf(SpelExpression whole, SpelParserConfiguration configuration) {
        List<SpelNode> operands = new ArrayList<>();
        collectOperands(whole.getAST(), operands);
        return (operands.size() == 1)
                ? List.of(whole)
                : operands.stream()
                        .map(node -> new SpelExpression(node.toStringAST(), (SpelNodeImpl) node, configuration))
                        .toList();
    }

    private static void collectOperands(SpelNode node, List<SpelNode> operands) {
        if (node instanceof OpPlus && node.getChildCount() > 1) {
            collectOperands(node.getChild(0), operands);
            collectOperands(node.getChild(1), operands);
        } else {
            operands.add(node);
        }
    }

    @Override
    public Set<String> variables() {
        return this.variables;
    }

    @Override
    public @Nullable String keyOf(MessageView message) {
        StandardEvaluationContext context = contextOf(message);
        if (this.parts.size() == 1) {
            return KeyText.of(evaluate(this.parts.get(0), context));
        }
        StringBuilder key = new StringBuilder();
        boolean number = false;
        for (SpelExpression part : this.parts) {
            boolean literal = part.getAST() instanceof Literal;
            Object value = evaluate(part, context);
            String text = KeyText.of(value);
            if (text == null || (!literal && MessageId.isNoKey(text))) {
                return null;
            }
            if (number && !literal && value instanceof Number) {
                throw new InvalidMessageKeyException(
                        "it puts two numbers together, as 1 and 23 or 12 and 3: write a text between them, as in #a + '/' + #b",
                        null);
            }
            number = literal ? number && text.isEmpty() : value instanceof Number;
            key.append(text);
        }
        return key.toString();
    }

    @Nullable
    Object valueOf(MessageView message) {
        return evaluate(this.parts.get(0), contextOf(message));
    }

    private static @Nullable Object evaluate(SpelExpression part, StandardEvaluationContext context) {
        try {
            return KeyText.contentOf(part.getValue(context));
        } catch (ExpressionException | IllegalStateException ex) {
            if (ex instanceof SpelEvaluationException evaluation
                    && THROUGH_NULL.contains(evaluation.getMessageCode())) {
                return null;
            }
            throw new InvalidMessageKeyException("it cannot be evaluated: " + ex.getMessage(), ex);
        }
    }

    @Override
    public String toString() {
        return "expression '" + this.text + "'";
    }

    /** The variables for one message; everything else is shared, with the caches of reflective look-ups. */
    private StandardEvaluationContext contextOf(MessageView message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        this.shared.applyDelegatesTo(context);
        context.setBeanResolver(this.shared.getBeanResolver());
        context.setVariable(JsonPathFunction.NAME, this.shared.lookupVariable(JsonPathFunction.NAME));
        this.named.forEach(name -> context.setVariable(name, variable(name, message)));
        return context;
    }

    private @Nullable Object variable(String name, MessageView message) {
        return switch (name) {
            case "record" -> message.record();
            case "payload" -> message.payload();
            case "headers" -> headersOf(message.record());
            case "coordinates" -> this.coordinates.apply(message.record());
            default -> message.argument(this.argumentNames.indexOf(name));
        };
    }

    private static Map<String, String> headersOf(ConsumerRecord<?, ?> record) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Header header : record.headers()) {
            if (header.value() != null) {
                headers.put(header.key(), MessageIdText.decode(header.value()));
            }
        }
        return headers;
    }
}
