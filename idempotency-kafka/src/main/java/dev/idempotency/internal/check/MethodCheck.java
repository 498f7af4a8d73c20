package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.definition.ProxyPath;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.result.AsynchronousResult;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.scheduling.annotation.Async;

/** Checks that calls pass the proxy that claims, that the work is done when the method returns, and how batches are taken. */
final class MethodCheck {

    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    private static final List<Class<?>> NO_PAYLOADS =
            List.of(Acknowledgment.class, Consumer.class, MessageHeaders.class);

    private MethodCheck() {}

    static void check(ProtectedListener listener, Report report) {
        checkProxy(listener, report);
        checkAsynchrony(listener, report);
        checkReply(listener, report);
        checkBatch(listener, report);
    }

    private static void checkProxy(ProtectedListener listener, Report report) {
        Class<?> type = listener.targetClass();
        Method method = listener.method();
        int modifiers = method.getModifiers();
        boolean byInterface = AopUtils.isJdkDynamicProxy(listener.bean());
        if (Modifier.isStatic(modifiers)) {
            refuse(report, "The method is static", "Remove static from the method.");
        } else if (Modifier.isPrivate(modifiers)) {
            refuse(report, "The method is private", "Remove private from the method.");
        } else if (Modifier.isFinal(modifiers) && !byInterface) {
            refuse(
                    report,
                    "The method is final",
                    "Remove final from the method (in Kotlin: open fun in an open class, or the plugin kotlin-spring).");
        } else if (Modifier.isFinal(type.getModifiers()) && !byInterface) {
            refuse(
                    report,
                    "The class is final",
                    "Remove final from the class (in Kotlin: open class, or the plugin kotlin-spring); a record cannot"
                            + " be a listener.");
        } else if (ProxyPath.isHiddenFrom(type, method)) {
            refuse(
                    report,
                    "The method is package-private in %s, and the bean's class %s is in another package"
                            .formatted(method.getDeclaringClass().getName(), type.getName()),
                    "Make the method protected or public.");
        } else if (!ProxyPath.of(listener.bean(), method).claims()) {
            report.add(
                    StartupCheck.NOT_PROXIED,
                    "Calls of its container do not pass a proxy that claims: the bean was created before proxies are made"
                            + " (a BeanPostProcessor needs it), or something has replaced it by itself or another proxy.",
                    "Let BeanPostProcessors take it as an ObjectProvider or @Lazy; return the plain object from @Bean"
                            + " methods, and let proxies be made by advisors.");
        }
    }

    private static void refuse(Report report, String what, String remedy) {
        report.add(
                StartupCheck.NOT_PROXIED, what + ", so that no proxy can come between it and its container.", remedy);
    }

    private static void checkAsynchrony(ProtectedListener listener, Report report) {
        Method method = listener.method();
        Class<?>[] parameters = method.getParameterTypes();
        if (AsynchronousResult.isOf(method.getReturnType())) {
            report.add(
                    StartupCheck.ASYNC_LISTENER,
                    "The method returns a %s, which is completed later."
                            .formatted(method.getReturnType().getSimpleName()),
                    "Return void, and wait for the result in the method (join() or block()); reactive database access"
                            + " takes no part in the transaction.");
        }
        if (parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION)) {
            report.add(
                    StartupCheck.ASYNC_LISTENER,
                    "The method is a suspend function, which may go on later on another thread.",
                    "Remove suspend, and call suspending functions within runBlocking { … }.");
        }
        if (isAsync(listener)) {
            report.add(
                    StartupCheck.ASYNC_LISTENER,
                    "The method is @Async, or has another AsyncExecutionInterceptor, so that it runs on another thread than"
                            + " its container's.",
                    "Remove @Async, or leave the method out of the interceptor's pointcut; @KafkaListener(concurrency = …)"
                            + " gives more threads.");
        }
    }

    private static boolean isAsync(ProtectedListener listener) {
        ProxyPath path = ProxyPath.of(listener.bean(), listener.method());
        return Stream.of(listener.method(), listener.targetClass())
                        .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, Async.class))
                || Stream.concat(path.aroundClaim().stream(), path.withinClaim().stream())
                        .anyMatch(AsyncExecutionAspectSupport.class::isInstance);
    }

    private static void checkReply(ProtectedListener listener, Report report) {
        Class<?> result = listener.method().getReturnType();
        boolean nothing =
                result == void.class || result == Void.class || result.getName().equals("kotlin.Unit");
        if (nothing || listener.annotation().storeReply() || AsynchronousResult.isOf(result)) {
            return;
        }
        boolean sendTo = Stream.of(listener.method(), listener.targetClass())
                .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, SendTo.class));
        report.add(
                StartupCheck.REPLY,
                sendTo
                        ? "Its result is sent to another topic by @SendTo."
                        : "It returns a %s, which is sent to the reply topic that a message may name in its headers."
                                .formatted(result.getSimpleName()),
                "Set @IdempotentListener(storeReply = true), so that the duplicate is given the reply; or write the reply to"
                        + " an outbox table in the listener's transaction, and return void.");
    }

    /** Duplicates can be removed from lists alone. */
    private static void checkBatch(ProtectedListener listener, Report report) {
        if (!(ListenerContainers.innermostListenerOf(listener.container())
                instanceof BatchMessagingMessageListenerAdapter)) {
            return;
        }
        Parameter[] parameters = listener.method().getParameters();
        boolean payloadSeen = false;
        for (int i = 0; i < parameters.length; i++) {
            Class<?> type = contentType(ResolvableType.forMethodParameter(listener.method(), i));
            boolean header = isHeader(parameters[i], type);
            boolean payload = !header && NO_PAYLOADS.stream().noneMatch(other -> other.isAssignableFrom(type));
            // Further parameters may come from an argument resolver of the application's own.
            boolean single = payload && !payloadSeen && !isParallel(type);
            payloadSeen |= payload;
            if (single || isOtherContainer(type, header) || (header ? isAccessor(type) : isText(type))) {
                report.add(
                        StartupCheck.BATCH_SIGNATURE,
                        "It is a batch listener, and takes its %s as a %s."
                                .formatted(header ? "headers" : "messages", type.getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                                + " setBatchToRecordAdapter(…) from the container factory.");
            }
        }
    }

    private static Class<?> contentType(ResolvableType declared) {
        Class<?> type = declared.resolve();
        ResolvableType content = (type == Message.class) ? declared.getGeneric(0) : declared;
        return Objects.requireNonNullElse(content.resolve(), Object.class);
    }

    private static boolean isHeader(Parameter parameter, Class<?> type) {
        return isAccessor(type)
                || AnnotatedElementUtils.hasAnnotation(parameter, Header.class)
                || AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
    }

    private static boolean isAccessor(Class<?> type) {
        return MessageHeaderAccessor.class.isAssignableFrom(type);
    }

    /** Whether it is filtered with the messages. */
    private static boolean isParallel(Class<?> type) {
        return type.isAssignableFrom(ArrayList.class);
    }

    /** Whether Spring may have converted a list to it. */
    private static boolean isText(Class<?> type) {
        return CharSequence.class.isAssignableFrom(type);
    }

    /** Whether it may hold what belongs to several records, and is not filtered with them. */
    private static boolean isOtherContainer(Class<?> type, boolean header) {
        return type == Optional.class
                || (type.isArray() && !(header && type == byte[].class))
                || BaseStream.class.isAssignableFrom(type)
                || (Collection.class.isAssignableFrom(type) && !isParallel(type));
    }
}
