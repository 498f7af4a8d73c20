package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.handler.annotation.SendTo;

/** Whether the listener's result is sent on. */
final class ReplyCheck implements ListenerCheck {

    private static final String REMEDY =
            "Write the reply to an outbox table in the listener's transaction, and return" + " void.";

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        Class<?> result = listener.method().getReturnType();
        boolean nothing =
                result == void.class || result == Void.class || result.getName().equals("kotlin.Unit");
        if (nothing || AsynchronyCheck.isAsynchronous(result)) {
            return;
        }
        boolean sendTo = AnnotatedElementUtils.hasAnnotation(listener.method(), SendTo.class)
                || AnnotatedElementUtils.hasAnnotation(AopUtils.getTargetClass(listener.bean()), SendTo.class);
        findings.add(
                Check.REPLY,
                listener,
                sendTo
                        ? "Its result is sent to another topic by @SendTo."
                        : "It returns a %s, which is sent to the reply topic that a message may name in its headers."
                                .formatted(result.getSimpleName()),
                REMEDY);
    }
}
