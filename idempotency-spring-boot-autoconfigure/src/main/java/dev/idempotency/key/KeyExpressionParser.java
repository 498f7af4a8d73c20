package dev.idempotency.key;

import java.lang.reflect.Field;
import java.util.Set;
import org.springframework.core.NativeDetector;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * Parses key expressions, and puts a {@link KeyPart} before each node whose value others are put together with: operands
 * of {@code +} and arguments, except for what is written there as a literal.
 *
 * <p>SpEL itself makes the text {@code null} of an operand that is absent and asks nobody, so the tree is changed.
 */
final class KeyExpressionParser {

    /** Methods that put their arguments into a text. */
    private static final Set<String> OF_TEXT = Set.of("concat", "format", "formatted", "join", "append", "valueOf");

    /** Methods that are asked what to do about {@code null}, or whether something is. */
    private static final Set<String> OF_ABSENCE = Set.of(
            "ofNullable",
            "orElse",
            "requireNonNullElse",
            "requireNonNullElseGet",
            "getOrDefault",
            "isNull",
            "nonNull",
            "equals",
            "equalsIgnoreCase",
            "hasText",
            "hasLength",
            "containsKey");

    /** Open to nodes alone, of which ours are no relatives in Java's eyes. */
    private static final Field CHILDREN = childrenField();

    private KeyExpressionParser() {}

    /**
     * Parses an expression.
     *
     * @param role says in messages what the expression is for
     * @param joined whether parts that are put together must become a text, rather than the sum of numbers
     */
    static SpelExpression parse(String role, String expression, boolean joined, ClassLoader classLoader) {
        // A native image cannot take up the classes that the compiler makes.
        SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
        SpelParserConfiguration configuration = new SpelParserConfiguration(mode, classLoader);
        try {
            SpelNodeImpl parsed = (SpelNodeImpl)
                    new SpelExpressionParser(configuration).parseRaw(expression).getAST();
            return new SpelExpression(expression, withParts(parsed, joined), configuration);
        } catch (ExpressionException ex) {
            throw new IllegalArgumentException(
                    "The %s expression '%s' does not parse: %s".formatted(role, expression, ex.getSimpleMessage()), ex);
        }
    }

    private static Field childrenField() {
        Field field = ReflectionUtils.findField(SpelNodeImpl.class, "children", SpelNodeImpl[].class);
        Assert.state(field != null, "This version of Spring has other expressions: their nodes have no children");
        ReflectionUtils.makeAccessible(field);
        return field;
    }

    /** The node, with parts before its operands, and before itself where it must join them to a text. */
    private static SpelNodeImpl withParts(SpelNodeImpl node, boolean joined) {
        boolean joins = joined && joinsParts(node);
        SpelNodeImpl[] children = (SpelNodeImpl[]) ReflectionUtils.getField(CHILDREN, node);
        Assert.state(children != null, "A node without children has an empty array of them");
        for (int i = 0; i < children.length; i++) {
            SpelNodeImpl child = children[i];
            SpelNodeImpl changed = withParts(child, joined);
            children[i] = (isPart(node, i) && !isAsWritten(node, child)) ? new KeyPart(changed, useIn(node)) : changed;
        }
        return joins ? new KeyPart(node, KeyPart.Use.JOINED) : node;
    }

    /** Whether it is a {@code +} between parts of the message, none of which is written as a calculation. */
    private static boolean joinsParts(SpelNodeImpl node) {
        return isBinaryPlus(node) && isOfMessage(node.getChild(0)) && isOfMessage(node.getChild(1));
    }

    private static boolean isOfMessage(SpelNode operand) {
        return isBinaryPlus(operand) || !(operand instanceof Literal || operand instanceof Operator);
    }

    private static boolean isBinaryPlus(SpelNode node) {
        return node instanceof OpPlus && node.getChildCount() > 1;
    }

    /** The first child of a constructor is its type. */
    private static boolean isPart(SpelNodeImpl node, int child) {
        return isBinaryPlus(node)
                || (node instanceof MethodReference method && !OF_ABSENCE.contains(method.getName()))
                || (node instanceof ConstructorReference && child > 0)
                || (node instanceof Elvis && child == 0);
    }

    /** A literal is what was meant, blank or not; and neither a sum nor a list that is written out is ever absent. */
    private static boolean isAsWritten(SpelNodeImpl node, SpelNodeImpl child) {
        return child instanceof Literal
                || (child instanceof OpPlus && !(node instanceof Elvis))
                || (!(node instanceof OpPlus) && (child instanceof InlineList || child instanceof InlineMap));
    }

    private static KeyPart.Use useIn(SpelNodeImpl node) {
        if (node instanceof Elvis) {
            return KeyPart.Use.REPLACEABLE;
        }
        if (node instanceof OpPlus) {
            return KeyPart.Use.OPERAND;
        }
        return (node instanceof MethodReference method && OF_TEXT.contains(method.getName()))
                ? KeyPart.Use.ARGUMENT_OF_TEXT
                : KeyPart.Use.ARGUMENT;
    }
}
