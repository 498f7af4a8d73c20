package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ListenerMethod;
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
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.scheduling.annotation.Async;

/** Checks that calls pass the proxy that claims, that the work is done when the method returns, and how batches are taken. */
final class MethodCheck {

    private static final List<Class<?>> NO_PAYLOADS =
            List.of(Acknowledgment.class, Consumer.class, MessageHeaders.class);

    /** Types that may hold what belongs to several records, and are not filtered with them. */
    private static final List<Class<?>> SEVERAL = List.of(Collection.class, Optional.class, BaseStream.class);

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
        if (AsynchronousResult.isOf(method.getReturnType())) {
            report.add(
                    StartupCheck.ASYNC_LISTENER,
                    "The method returns a %s, which is completed later."
                            .formatted(method.getReturnType().getSimpleName()),
                    "Return void, and wait for the result in the method (join() or block()); reactive database access"
                            + " takes no part in the transaction.");
        }
        if (KotlinDetector.isSuspendingFunction(method)) {
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
        for (int i = 0; i < parameters.length; i++) {
            Class<?> type = contentType(ResolvableType.forMethodParameter(listener.method(), i));
            boolean header = ListenerMethod.isHeader(parameters[i]);
            boolean filtered = type.isAssignableFrom(ArrayList.class);
            boolean ofNoRecord = header
                    ? !(type.isArray() && type != byte[].class) && !isAnyOf(SEVERAL, type)
                    : isAnyOf(NO_PAYLOADS, type);
            if (!filtered && !ofNoRecord) {
                report.add(
                        StartupCheck.BATCH_SIGNATURE,
                        "It is a batch listener, and takes its %s as a %s."
                                .formatted(header ? "headers" : "messages", type.getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                                + " setBatchToRecordAdapter(…) from the container factory.");
            }
        }
    }

    private static boolean isAnyOf(List<Class<?>> types, Class<?> type) {
        return types.stream().anyMatch(each -> each.isAssignableFrom(type));
    }

    private static Class<?> contentType(ResolvableType declared) {
        Class<?> type = declared.resolve();
        ResolvableType content = (type == Message.class) ? declared.getGeneric(0) : declared;
        return Objects.requireNonNullElse(content.resolve(), Object.class);
    }
}
