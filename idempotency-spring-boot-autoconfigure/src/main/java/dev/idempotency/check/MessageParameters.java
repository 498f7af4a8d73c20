package dev.idempotency.check;

import dev.idempotency.check.MessagePaths.Path;
import java.lang.reflect.Method;
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
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** The values behind the variables of a listener's expressions. In a batch, each message has its element of an argument. */
final class MessageParameters {

    /** Values that carry the message; {@code NONE} for a part of the message itself. */
    enum Carrier {
        NONE,
        RECORD,
        METADATA,
        COORDINATES,
        HEADERS_OF_RECORD,
        MESSAGE,
        HEADERS,
        CALL
    }

    private static final Map<Class<?>, Carrier> CARRIERS = Map.of(
            ConsumerRecord.class, Carrier.RECORD,
            ConsumerRecordMetadata.class, Carrier.METADATA,
            Message.class, Carrier.MESSAGE,
            MessageHeaders.class, Carrier.HEADERS,
            MessageHeaderAccessor.class, Carrier.HEADERS,
            Acknowledgment.class, Carrier.CALL,
            Consumer.class, Carrier.CALL);

    /** The first of these parameters is, or has, the payload. */
    private static final Set<Carrier> PAYLOADS = Set.of(Carrier.NONE, Carrier.RECORD, Carrier.MESSAGE);

    /** A variable with properties, or methods without arguments. */
    private static final Pattern PROPERTIES = Pattern.compile("#\\w+(\\??\\.\\w+(\\(\\))?)*");

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_]\\w*");

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Map<String, Carrier> carriers = new HashMap<>();
    private final Map<String, String> headers = new HashMap<>();
    private final Map<String, Class<?>> types = new HashMap<>();
    private final Set<String> collections = new HashSet<>();
    private final List<String> payloads = new ArrayList<>();
    private @Nullable Class<?> payloadType;
    private boolean payloadNamed;

    MessageParameters(Method method) {
        String[] names = NAMES.getParameterNames(method);
        Parameter[] parameters = method.getParameters();
        for (int i = 0; names != null && i < names.length; i++) {
            add(names[i], parameters[i], ResolvableType.forMethodParameter(method, i));
        }
        // These win over arguments of the same name.
        this.carriers.put("record", Carrier.RECORD);
        this.carriers.put("coordinates", Carrier.COORDINATES);
        this.carriers.put("headers", Carrier.HEADERS_OF_RECORD);
        this.carriers.remove("payload");
        this.types.keySet().removeAll(Set.of("record", "coordinates", "headers", "payload"));
        if (this.payloadType != null && possiblePayloads().isEmpty()) {
            this.types.put("payload", this.payloadType);
        }
    }

    private void add(String name, Parameter parameter, ResolvableType type) {
        this.types.put(name, elementOf(type));
        if (elementOf(type) != type.toClass()) {
            this.collections.addAll(List.of(name, "payload"));
        }
        Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
        if (header != null) {
            this.headers.put(name, StringUtils.hasText(header.name()) ? header.name() : name);
            return;
        }
        Carrier carrier = AnnotatedElementUtils.hasAnnotation(parameter, Headers.class)
                ? Carrier.HEADERS
                : carrierIn(elementOf(type));
        this.carriers.put(name, carrier);
        if (carrier == Carrier.NONE) {
            this.payloads.add(name);
        }
        boolean named = AnnotatedElementUtils.hasAnnotation(parameter, Payload.class);
        this.payloadNamed |= named;
        if (named || (this.payloadType == null && PAYLOADS.contains(carrier))) {
            this.payloadType = (carrier == Carrier.NONE) ? elementOf(type) : Object.class;
        }
    }

    /** The parameters of which the first is taken for the payload, if it does not follow from the method that it is. */
    List<String> possiblePayloads() {
        boolean clear = this.payloadNamed
                || this.payloads.size() < 2
                || this.payloads.get(0).equals("payload");
        return clear ? List.of() : this.payloads;
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

    /** The type of the argument behind a variable, as far as it is known. */
    Class<?> type(String variable) {
        return this.types.getOrDefault(variable, Object.class);
    }

    /** Returns the properties of a payload of which none has the name that a path begins with; none if that cannot be said. */
    List<String> propertiesWithout(Path path) {
        Class<?> type = type(path.variable());
        String name = path.first();
        // A subclass may have more, and of a collection it is not known whether the elements are meant.
        boolean definite = carrier(path.variable()) == Carrier.NONE
                && !this.collections.contains(path.variable())
                && (type == String.class || !type.getName().startsWith("java."))
                && !Map.class.isAssignableFrom(type)
                && !Modifier.isAbstract(type.getModifiers());
        if (!definite || !IDENTIFIER.matcher(name).matches()) {
            return List.of();
        }
        Set<String> names = new TreeSet<>();
        ReflectionUtils.doWithFields(
                type, field -> names.add(field.getName()), field -> !Modifier.isStatic(field.getModifiers()));
        Set<String> members = new HashSet<>(names);
        ReflectionUtils.doWithMethods(type, method -> members.add(method.getName()));
        String capitalized = StringUtils.capitalize(name);
        boolean found =
                List.of(name, "get" + capitalized, "is" + capitalized).stream().anyMatch(members::contains);
        return (found || names.isEmpty()) ? List.of() : List.copyOf(names);
    }

    /** Returns the declared type of a variable's property, such as {@code #payload.version}, as far as it is known. */
    Class<?> typeOf(String expression) {
        String path = expression.strip();
        if (!PROPERTIES.matcher(path).matches()) {
            return Object.class;
        }
        String[] steps = path.substring(1).split("\\??\\.");
        Class<?> type = type(steps[0]);
        for (int i = 1; i < steps.length; i++) {
            type = Map.class.isAssignableFrom(type) ? Object.class : typeOf(steps[i], type);
        }
        return type;
    }

    private static Class<?> typeOf(String step, Class<?> owner) {
        String name = step.replace("()", "");
        Method getter =
                step.equals(name) ? ClassUtils.getMethodIfAvailable(owner, "get" + StringUtils.capitalize(name)) : null;
        Method method = (getter != null) ? getter : ClassUtils.getMethodIfAvailable(owner, name);
        return (method != null) ? method.getReturnType() : Object.class;
    }

    /** Returns the carrier behind a variable. */
    Carrier carrier(String variable) {
        return this.carriers.getOrDefault(variable, Carrier.NONE);
    }

    /** The header of the converted message behind a variable, or nothing if it is something else. */
    String header(String variable) {
        return this.headers.getOrDefault(variable, "");
    }
}
