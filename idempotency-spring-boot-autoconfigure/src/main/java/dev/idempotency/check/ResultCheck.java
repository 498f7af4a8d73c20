package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.definition.ProxyPath;
import dev.idempotency.result.AsynchronousResult;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.stream.Stream;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.scheduling.annotation.Async;

/** Whether the work is done when the listener returns, on the thread that it was called on, and nothing follows. */
final class ResultCheck implements ListenerCheck {

    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    @Override
    public void check(ProtectedListener listener, Report report) {
        checkAsynchrony(listener, report);
        checkReply(listener, report);
    }

    private static void checkAsynchrony(ProtectedListener listener, Report report) {
        Method method = listener.method();
        Class<?>[] parameters = method.getParameterTypes();
        if (AsynchronousResult.isOf(method.getReturnType())) {
            report.add(
                    Check.ASYNC_LISTENER,
                    "The method returns a %s, which is completed later."
                            .formatted(method.getReturnType().getSimpleName()),
                    "Return void, and wait for the result in the method (join() or block()); reactive database access"
                            + " takes no part in the transaction.");
        }
        if (parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION)) {
            report.add(
                    Check.ASYNC_LISTENER,
                    "The method is a suspend function, which may go on later on another thread.",
                    "Remove suspend, and call suspending functions within runBlocking { … }.");
        }
        if (isAsync(method) || isAsync(listener.targetClass())) {
            report.add(
                    Check.ASYNC_LISTENER,
                    "The method is @Async, so that it runs on another thread than its container's.",
                    "Remove @Async; @KafkaListener(concurrency = …) gives more threads.");
        } else if (isHandedOver(listener)) {
            report.add(
                    Check.ASYNC_LISTENER,
                    "An AsyncExecutionInterceptor stands before the method, by an annotation or a pointcut of the"
                            + " application's own, so that it runs on another thread than its container's.",
                    "Keep that interceptor from the method: remove the annotation that @EnableAsync(annotation = …)"
                            + " names, or leave the method out of the pointcut;"
                            + " @KafkaListener(concurrency = …) gives more threads.");
        }
    }

    private static void checkReply(ProtectedListener listener, Report report) {
        Class<?> result = listener.method().getReturnType();
        boolean nothing =
                result == void.class || result == Void.class || result.getName().equals("kotlin.Unit");
        IdempotentListener annotation = IdempotentListenerAnnotations.find(listener.method(), listener.targetClass());
        boolean kept = annotation != null && annotation.keepReply();
        if (nothing || kept || AsynchronousResult.isOf(result)) {
            return;
        }
        boolean sendTo = AnnotatedElementUtils.hasAnnotation(listener.method(), SendTo.class)
                || AnnotatedElementUtils.hasAnnotation(listener.targetClass(), SendTo.class);
        report.add(
                Check.REPLY,
                sendTo
                        ? "Its result is sent to another topic by @SendTo."
                        : "It returns a %s, which is sent to the reply topic that a message may name in its headers."
                                .formatted(result.getSimpleName()),
                "Set @IdempotentListener(keepReply = true), so that the duplicate is given the reply; or write the reply to"
                        + " an outbox table in the listener's transaction, and return void.");
    }

    private static boolean isHandedOver(ProtectedListener listener) {
        ProxyPath path = ProxyPath.of(listener.bean(), listener.method());
        return Stream.concat(path.aroundClaim().stream(), path.withinClaim().stream())
                .anyMatch(AsyncExecutionAspectSupport.class::isInstance);
    }

    private static boolean isAsync(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, Async.class);
    }
}
