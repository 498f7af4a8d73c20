package dev.idempotency.check;

import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.definition.ProtectedListener;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
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
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** The parts of a message that an expression reads, whatever the notation. Of a batch, the elements of arguments count. */
final class MessageParts {

    /** Values that carry the message; {@code NONE} for a part of the message itself. */
    enum Carrier {
        NONE,
        RECORD,
        COORDINATES,
        HEADERS_OF_RECORD,
        MESSAGE,
        HEADERS
    }

    /**
     * A part of a message, such as {@code #message.headers['id']}.
     *
     * @param variable the variable that leads to it
     * @param text the way there, as in the expression
     * @param steps properties, methods and keys that follow from the carrier on, by their plain names
     * @param asText whether it becomes the key, or a part of its text, as it is
     */
    record Part(String variable, String text, Carrier carrier, List<String> steps, boolean asText) {

        /** The first step, or nothing. */
        String name() {
            return this.steps.isEmpty() ? "" : this.steps.get(0);
        }

        boolean isOfRecord() {
            return (this.carrier == Carrier.RECORD || this.carrier == Carrier.COORDINATES) && !this.steps.isEmpty();
        }

        /** Whether the text of something that differs between deliveries is used. */
        boolean isWholeCarrier() {
            boolean changing = this.carrier != Carrier.NONE && this.carrier != Carrier.COORDINATES;
            return changing && this.asText && this.steps.isEmpty();
        }
    }

    private static final Map<Class<?>, Carrier> CARRIERS = Map.of(
            ConsumerRecord.class, Carrier.RECORD,
            ConsumerRecordMetadata.class, Carrier.RECORD,
            Message.class, Carrier.MESSAGE,
            MessageHeaders.class, Carrier.HEADERS);

    /** Parts of the record, as headers of the converted message have them. */
    private static final Map<String, String> RECORD_HEADERS = Map.of(
            KafkaHeaders.RECEIVED_TOPIC, "topic",
            KafkaHeaders.RECEIVED_PARTITION, "partition",
            KafkaHeaders.OFFSET, "offset",
            KafkaHeaders.RECEIVED_TIMESTAMP, "timestamp");

    /** Methods that put their arguments into a text. */
    private static final Set<String> OF_TEXT = Set.of("concat", "format", "formatted", "join", "valueOf", "toString");

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_]\\w*");

    private final Map<String, Carrier> carriers = new HashMap<>();
    private final Map<String, String> headers = new HashMap<>();
    private final Map<String, Class<?>> types = new HashMap<>();
    private final Set<String> collections = new HashSet<>();
    private final List<String> payloads = new ArrayList<>();
    private final List<Part> parts = new ArrayList<>();
    private boolean usesBeans;

    MessageParts(String expression, ProtectedListener listener) {
        String[] names = new DefaultParameterNameDiscoverer().getParameterNames(listener.method());
        Parameter[] parameters = listener.method().getParameters();
        for (int i = 0; names != null && i < names.length; i++) {
            addParameter(names[i], parameters[i], ResolvableType.forMethodParameter(listener.method(), i));
        }
        ResolvableType payload = listener.payload();
        boolean clear =
                Stream.of(parameters).anyMatch(each -> AnnotatedElementUtils.hasAnnotation(each, Payload.class));
        if (clear || this.payloads.size() < 2 || this.payloads.get(0).equals("payload")) {
            this.payloads.clear();
        }
        // These win over arguments of the same name.
        this.types.keySet().removeAll(Set.of("record", "coordinates", "headers", "payload"));
        this.carriers.put("record", Carrier.RECORD);
        this.carriers.put("coordinates", Carrier.COORDINATES);
        this.carriers.put("headers", Carrier.HEADERS_OF_RECORD);
        this.carriers.remove("payload");
        if (payload != null && this.payloads.isEmpty() && carrierIn(elementOf(payload)) == Carrier.NONE) {
            this.types.put("payload", elementOf(payload));
        }
        try {
            read(new SpelExpressionParser().parseRaw(expression).getAST(), true);
        } catch (ParseException ex) {
            // Another finding.
            this.usesBeans = true;
        }
    }

    private void addParameter(String name, Parameter parameter, ResolvableType type) {
        Class<?> element = elementOf(type);
        this.types.put(name, element);
        if (element != type.toClass()) {
            this.collections.addAll(List.of(name, "payload"));
        }
        Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
        if (header != null) {
            this.headers.put(name, StringUtils.hasText(header.name()) ? header.name() : name);
            return;
        }
        boolean allHeaders = AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
        this.carriers.put(name, allHeaders ? Carrier.HEADERS : carrierIn(element));
        if (this.carriers.get(name) == Carrier.NONE && !ListenerMethod.isInfrastructure(element)) {
            this.payloads.add(name);
        }
    }

    private static Class<?> elementOf(ResolvableType type) {
        if (type.isArray()) {
            return type.getComponentType().toClass();
        }
        ResolvableType collection = type.as(Collection.class);
        return (collection != ResolvableType.NONE) ? collection.getGeneric(0).toClass() : type.toClass();
    }

    private static Carrier carrierIn(Class<?> type) {
        return CARRIERS.entrySet().stream()
                .filter(entry -> entry.getKey().isAssignableFrom(type))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(Carrier.NONE);
    }

    private void read(SpelNode node, boolean asText) {
        if (node instanceof VariableReference) {
            addPart(node, List.of(), asText);
        } else if (node instanceof CompoundExpression) {
            readCompound(node, asText);
        } else {
            this.usesBeans |= node instanceof BeanReference;
            readChildren(node, asText);
        }
    }

    private void readChildren(SpelNode node, boolean asText) {
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean text = (node instanceof OpPlus && node.getChildCount() > 1)
                    || (node instanceof MethodReference method && OF_TEXT.contains(method.getName()))
                    || (asText && (node instanceof Elvis || node instanceof InlineList))
                    || (asText && node instanceof Ternary && i > 0);
            read(node.getChild(i), text);
        }
    }

    private void readCompound(SpelNode compound, boolean asText) {
        SpelNode head = compound.getChild(0);
        List<String> steps = new ArrayList<>();
        boolean text = asText;
        for (int i = 1; i < compound.getChildCount(); i++) {
            String name = nameOf(compound.getChild(i));
            text = (i == compound.getChildCount() - 1) && (asText || name.equals("toString"));
            if (!name.equals("toString")) {
                steps.add(name);
            }
            readChildren(compound.getChild(i), false);
        }
        if (head instanceof VariableReference) {
            addPart(head, steps, text);
        } else {
            read(head, text && steps.isEmpty());
        }
    }

    /** The name of a property, of a method or of the property that it gets, or of the key that is looked for. */
    private static String nameOf(SpelNode step) {
        if (step instanceof PropertyOrFieldReference property) {
            return property.getName();
        }
        if (step instanceof StringLiteral literal) {
            return String.valueOf(literal.getLiteralValue().getValue());
        }
        if (step instanceof MethodReference method && !method.getName().equals("get")) {
            boolean getter = method.getName().startsWith("get") && method.getChildCount() == 0;
            return getter ? StringUtils.uncapitalize(method.getName().substring(3)) : method.getName();
        }
        boolean lookup = step instanceof Indexer || step instanceof MethodReference;
        return (lookup && step.getChildCount() > 0) ? nameOf(step.getChild(0)) : "";
    }

    /** Adds the part that a path leads to: a header of a {@code Message}, for one, is the same as that of an argument. */
    private void addPart(SpelNode reference, List<String> path, boolean asText) {
        String variable = reference.toStringAST().substring(1);
        Carrier carrier = this.carriers.getOrDefault(variable, Carrier.NONE);
        List<String> steps = new ArrayList<>(path);
        if (this.headers.containsKey(variable)) {
            carrier = Carrier.HEADERS;
            steps.add(0, this.headers.get(variable));
        } else if ((carrier == Carrier.MESSAGE || carrier == Carrier.RECORD)
                && !path.isEmpty()
                && path.get(0).equals("headers")) {
            carrier = (carrier == Carrier.MESSAGE) ? Carrier.HEADERS : Carrier.HEADERS_OF_RECORD;
            steps.remove(0);
        }
        if (carrier == Carrier.HEADERS && !steps.isEmpty() && RECORD_HEADERS.containsKey(steps.get(0))) {
            carrier = Carrier.RECORD;
            steps.set(0, RECORD_HEADERS.get(steps.get(0)));
        }
        String text = Stream.concat(Stream.of("#" + variable), path.stream()).collect(Collectors.joining("."));
        this.parts.add(new Part(variable, text, carrier, steps, asText));
    }

    List<Part> parts() {
        return this.parts;
    }

    /** Whether it asks beans, which may know anything. */
    boolean usesBeans() {
        return this.usesBeans;
    }

    /** The parameters of which the first is taken for the payload, if it does not follow from the method that it is. */
    List<String> possiblePayloads() {
        return this.payloads;
    }

    /** The type of the argument behind a variable, as far as it is known. */
    Class<?> type(String variable) {
        return this.types.getOrDefault(variable, Object.class);
    }

    /** Returns the properties of a payload of which none has the name that a part begins with; none if that cannot be said. */
    List<String> propertiesWithout(Part part) {
        Class<?> type = type(part.variable());
        // A subclass may have more, and of a collection it is not known whether the elements are meant.
        boolean definite = part.carrier() == Carrier.NONE
                && !this.collections.contains(part.variable())
                && (type == String.class || !type.getName().startsWith("java."))
                && !Map.class.isAssignableFrom(type)
                && !Modifier.isAbstract(type.getModifiers());
        if (!definite || !IDENTIFIER.matcher(part.name()).matches()) {
            return List.of();
        }
        Set<String> names = new TreeSet<>();
        ReflectionUtils.doWithFields(
                type, field -> names.add(field.getName()), field -> !Modifier.isStatic(field.getModifiers()));
        Set<String> members = new HashSet<>(names);
        ReflectionUtils.doWithMethods(type, method -> members.add(method.getName()));
        String capitalized = StringUtils.capitalize(part.name());
        boolean found =
                Stream.of(part.name(), "get" + capitalized, "is" + capitalized).anyMatch(members::contains);
        return found ? List.of() : List.copyOf(names);
    }
}
