package dev.idempotency.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

/**
 * The parts of a message that an expression reads, whatever the notation.
 *
 * @param paths the variables that it names, each with the way from there
 * @param usesBeans whether it asks beans, which may know anything
 */
record MessagePaths(List<Path> paths, boolean usesBeans) {

    /** Methods that put their arguments into a text. */
    private static final Set<String> OF_TEXT =
            Set.of("concat", "format", "formatted", "join", "append", "valueOf", "toString");

    /**
     * A variable and the way from there, as in {@code #message.headers['id']}.
     *
     * @param variable the variable's name
     * @param steps the properties, methods and keys that follow, by their plain names
     * @param asText whether what it leads to becomes the key, or a part of its text, as it is
     */
    record Path(String variable, List<String> steps, boolean asText) {

        /** The first step, or nothing. */
        String first() {
            return this.steps.isEmpty() ? "" : this.steps.get(0);
        }

        @Override
        public String toString() {
            return "#" + this.variable + (this.steps.isEmpty() ? "" : "." + String.join(".", this.steps));
        }
    }

    /** Returns the paths of an expression; none if it does not parse, which is another finding. */
    static MessagePaths of(String expression) {
        Reader reader = new Reader();
        try {
            reader.read(new SpelExpressionParser().parseRaw(expression).getAST(), true);
        } catch (ParseException ex) {
            return new MessagePaths(List.of(), true);
        }
        return new MessagePaths(reader.paths, reader.beans);
    }

    /** Whether it reads nothing that differs between messages. */
    boolean isConstant() {
        return this.paths.isEmpty() && !this.usesBeans;
    }

    /** Whether the expression is a variable and nothing else. */
    boolean isOnly(String expression) {
        return this.paths.size() == 1
                && expression.strip().equals("#" + this.paths.get(0).variable());
    }

    private static final class Reader {

        private final List<Path> paths = new ArrayList<>();
        private boolean beans;

        void read(SpelNode node, boolean asText) {
            if (node instanceof VariableReference) {
                this.paths.add(new Path(nameOf(node), List.of(), asText));
            } else if (node instanceof CompoundExpression) {
                readCompound(node, asText);
            } else {
                this.beans |= node instanceof BeanReference;
                for (int i = 0; i < node.getChildCount(); i++) {
                    read(node.getChild(i), isText(node, i, asText));
                }
            }
        }

        private static boolean isText(SpelNode parent, int child, boolean asText) {
            return (parent instanceof OpPlus && parent.getChildCount() > 1)
                    || (parent instanceof MethodReference method && OF_TEXT.contains(method.getName()))
                    || (asText && (parent instanceof Elvis || parent instanceof InlineList))
                    || (asText && parent instanceof Ternary && child > 0);
        }

        private void readCompound(SpelNode compound, boolean asText) {
            SpelNode head = compound.getChild(0);
            List<String> steps = new ArrayList<>();
            boolean text = asText;
            for (int i = 1; i < compound.getChildCount(); i++) {
                SpelNode step = compound.getChild(i);
                String name = nameOfStep(step);
                text = (i == compound.getChildCount() - 1) && (asText || name.equals("toString"));
                if (!name.equals("toString")) {
                    steps.add(name);
                }
                for (int j = 0; j < step.getChildCount(); j++) {
                    read(step.getChild(j), isText(step, j, false));
                }
            }
            if (head instanceof VariableReference) {
                this.paths.add(new Path(nameOf(head), List.copyOf(steps), text));
            } else {
                read(head, text && steps.isEmpty());
            }
        }

        private static String nameOf(SpelNode variable) {
            return variable.toStringAST().substring(1);
        }

        private static String nameOfStep(SpelNode step) {
            if (step instanceof PropertyOrFieldReference property) {
                return property.getName();
            }
            if (step instanceof MethodReference method) {
                return nameOfMethod(method);
            }
            return (step instanceof Indexer) ? nameOfKey(step.getChild(0)) : "";
        }

        private static String nameOfMethod(MethodReference method) {
            String name = method.getName();
            if (name.equals("get") && method.getChildCount() > 0) {
                return nameOfKey(method.getChild(0));
            }
            boolean getter = name.length() > 3 && name.startsWith("get") && method.getChildCount() == 0;
            return getter ? StringUtils.uncapitalize(name.substring(3)) : name;
        }

        private static String nameOfKey(SpelNode key) {
            if (key instanceof PropertyOrFieldReference property) {
                return property.getName();
            }
            return (key instanceof StringLiteral literal)
                    ? String.valueOf(literal.getLiteralValue().getValue())
                    : "";
        }
    }
}
