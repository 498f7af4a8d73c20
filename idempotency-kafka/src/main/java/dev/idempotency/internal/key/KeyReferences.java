package dev.idempotency.internal.key;

import java.util.HashSet;
import java.util.Set;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeCode;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/** Finds an expression's references to variables, functions, beans and types. A missing one would fail at every message. */
record KeyReferences(Set<String> variables, EvaluationContext context, BeanFactory beanFactory, Set<String> named) {

    /** Returns the variables that an expression names; an {@link IllegalArgumentException} says what is missing. */
    static Set<String> find(
            SpelExpression expression, Set<String> variables, EvaluationContext context, BeanFactory beanFactory) {
        KeyReferences references = new KeyReferences(variables, context, beanFactory, new HashSet<>());
        references.require(expression.getAST(), false);
        return references.named;
    }

    /** {@code ofElement} says whether it stands in a selection or projection, and is asked of each element. */
    private void require(SpelNode node, boolean ofElement) {
        if (node instanceof VariableReference) {
            requireVariable(node.toStringAST().substring(1), ofElement);
        } else if (node instanceof FunctionReference) {
            requireFunction(node.toStringAST());
        } else if (node instanceof BeanReference bean && !this.beanFactory.containsBean(bean.getName())) {
            throw new IllegalArgumentException("names the bean '%s', but there is none".formatted(bean.getName()));
        } else if (node instanceof TypeReference || node instanceof ConstructorReference) {
            requireType(node.getChild(0));
        } else if (node instanceof CompoundExpression) {
            require(node.getChild(0), ofElement);
            for (int i = 1; i < node.getChildCount(); i++) {
                requireWithin(node.getChild(i), ofElement);
            }
            return;
        } else if (!ofElement && isReadOfNothing(node)) {
            throw new IllegalArgumentException(
                    "reads '%s' of nothing: what is of the message begins with a variable, as in #payload.id"
                            .formatted(node.toStringAST()));
        }
        requireWithin(node, ofElement);
    }

    private void requireWithin(SpelNode node, boolean ofElement) {
        boolean ofEach = ofElement || node instanceof Projection || node instanceof Selection;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            boolean name = child instanceof PropertyOrFieldReference
                    && (node instanceof Indexer || (node instanceof InlineMap && i % 2 == 0));
            if (!name) {
                require(child, ofEach);
            }
        }
    }

    /** There is no root object, of which SpEL reads what stands by itself. */
    private static boolean isReadOfNothing(SpelNode node) {
        return node instanceof PropertyOrFieldReference
                || node instanceof MethodReference
                || node instanceof Indexer
                || node instanceof Projection
                || node instanceof Selection;
    }

    private void requireVariable(String name, boolean ofElement) {
        if (this.variables.contains(name)) {
            this.named.add(name);
        } else if (!(ofElement && name.equals("this"))) {
            throw new IllegalArgumentException(
                    "names the variable #%s, but there are only %s".formatted(name, this.variables));
        }
    }

    private void requireFunction(String call) {
        String name = call.substring(1, call.indexOf('('));
        if (this.context.lookupVariable(name) == null) {
            throw new IllegalArgumentException(
                    name.equals(JsonPathFunction.NAME)
                            ? "calls #jsonPath, which needs Jayway JsonPath on the class path: add the dependency"
                                    + " com.jayway.jsonpath:json-path, in the scope of production and not of tests alone"
                            : "calls the function #%s, but there is none but #%s"
                                    .formatted(name, JsonPathFunction.NAME));
        }
    }

    private void requireType(SpelNode reference) {
        String name = String.valueOf(reference.getValue(new ExpressionState(this.context)));
        try {
            if (TypeCode.forName(name) == TypeCode.OBJECT) {
                this.context.getTypeLocator().findType(name);
            }
        } catch (EvaluationException ex) {
            throw new IllegalArgumentException("names the type %s, but there is none".formatted(name), ex);
        }
    }
}
