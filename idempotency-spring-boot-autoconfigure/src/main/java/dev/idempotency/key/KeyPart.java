package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.ast.SpelNodeImpl;

/**
 * Stands before a node of an expression whose value others are put together with. Where that value is absent the whole
 * has no key: as the text {@code null} it would be the same for all messages that lack it.
 */
final class KeyPart extends SpelNodeImpl {

    /** How a value is used, which decides what it may be. */
    enum Use {

        /** An operand of {@code +}: it must have a text, or be a number. */
        OPERAND,

        /** An argument that becomes part of a text. */
        ARGUMENT_OF_TEXT,

        /** Any other argument. */
        ARGUMENT,

        /** Parts of the message that are joined by {@code +}: the sum of two numbers is that of others as well. */
        JOINED,

        /** What stands before {@code ?:}: where it is absent, be it in part, there is another. */
        REPLACEABLE
    }

    private static final Pattern NULL_WITHIN = Pattern.compile("\\bnull\\b|\\bOptional(?:Int|Long|Double)?\\.empty\\b");

    private final SpelNodeImpl node;
    private final Use use;

    KeyPart(SpelNodeImpl node, Use use) {
        super(node.getStartPosition(), node.getEndPosition(), node);
        this.node = node;
        this.use = use;
    }

    @Override
    public TypedValue getValueInternal(ExpressionState state) {
        if (this.use == Use.REPLACEABLE) {
            return replaceable(state);
        }
        TypedValue value = this.node.getValueInternal(state);
        if (this.use == Use.JOINED) {
            return joined(value);
        }
        Object content = requirePresent(value.getValue());
        if (this.use != Use.ARGUMENT) {
            requireNotBlank(content);
        }
        return (this.use == Use.OPERAND) ? operand(value, content) : value;
    }

    private TypedValue replaceable(ExpressionState state) {
        try {
            return this.node.getValueInternal(state);
        } catch (NoKeyException ex) {
            return TypedValue.NULL;
        }
    }

    private TypedValue joined(TypedValue value) {
        if (value.getValue() instanceof Number) {
            throw new InvalidMessageKeyException(
                    ("its part '%s' adds numbers, and other messages may have the same sum: put a text between them, as in #a +"
                                    + " '/' + #b")
                            .formatted(this.node.toStringAST()),
                    null);
        }
        return value;
    }

    private TypedValue operand(TypedValue given, Object content) {
        if (!KeyText.isStable(content)) {
            requireTextOfItsOwn(content);
        }
        return (content == given.getValue()) ? given : new TypedValue(content);
    }

    /** The text of a value that tells of what it has not is the same for all that lack it. */
    private void requireTextOfItsOwn(Object value) {
        if (!KeyText.isValueWithText(value) || KeyText.showsIdentity(value.toString())) {
            throw new InvalidMessageKeyException(
                    "its part '%s' is a %s, whose text may differ between deliveries: make it a text, a number or a UUID"
                            .formatted(this.node.toStringAST(), value.getClass().getName()),
                    null);
        }
        if (NULL_WITHIN.matcher(value.toString()).find()) {
            throw new NoKeyException();
        }
    }

    private static Object requirePresent(@Nullable Object value) {
        Object content = KeyText.contentOf(value);
        if (content == null) {
            throw new NoKeyException();
        }
        return content;
    }

    private static void requireNotBlank(Object value) {
        if (KeyText.isBlank(value)) {
            throw new NoKeyException();
        }
    }

    @Override
    public String toStringAST() {
        return this.node.toStringAST();
    }
}
