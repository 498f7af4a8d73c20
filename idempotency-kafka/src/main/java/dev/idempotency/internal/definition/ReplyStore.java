package dev.idempotency.internal.definition;

import dev.idempotency.MessageId;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.StartupCheck;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.result.ResultStore;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/** Keeps the replies of a listener, which returns the given type, to give them again to duplicates of their requests. */
public record ReplyStore(ResultStore results, Type type) {

    private static final Logger logger = LoggerFactory.getLogger(ReplyStore.class);

    private static final Set<String> NOTHING = Set.of("void", "java.lang.Void", "kotlin.Unit");

    /** Returns what keeps a listener's replies, or {@code null} if they are not to be kept. */
    static @Nullable ReplyStore of(ListenerCandidate listener, @Nullable ResultStore results, boolean perPoll) {
        if (!listener.annotation().storeReply()) {
            return null;
        }
        ResolvableType result = ResolvableType.forMethodReturnType(listener.method(), listener.targetClass());
        Class<?> raw = result.resolve(Object.class);
        refuseIf(
                perPoll || ListenerContainers.deliversBatches(listener.container()),
                "It takes several records in one transaction, and a reply belongs to one.",
                "Let it take one record per transaction");
        refuseIf(
                NOTHING.contains(raw.getName()),
                "It returns nothing, so that there is no reply to be kept.",
                "Return the reply");
        refuseIf(
                raw == Object.class || result.hasUnresolvableGenerics(),
                "It returns a %s, which does not say how to read it again.".formatted(result),
                "Return a class");
        refuseIf(
                Stream.of(result, result.asCollection().getGeneric())
                        .anyMatch(each -> Message.class.isAssignableFrom(each.toClass())),
                "It returns a Message, whose headers are not kept.",
                "Return its payload");
        if (results == null) {
            throw ListenerFault.found(
                    StartupCheck.STORE_REPLY,
                    "Replies are stored in a table beside the processed messages, but the application defines"
                            + " its own ProcessedMessageStore.",
                    "Use the provided store, or remove storeReply = true.");
        }
        Type type = GenericTypeResolver.resolveType(listener.method().getGenericReturnType(), listener.targetClass());
        String obstacle = results.obstacleFor(type);
        refuseIf(
                obstacle != null,
                "Its replies cannot be written: " + obstacle + ".",
                "Return something that a ResultConverter can write");
        return new ReplyStore(results, type);
    }

    private static void refuseIf(boolean condition, String what, String remedy) {
        if (condition) {
            throw ListenerFault.found(StartupCheck.STORE_REPLY, what, remedy + ", or remove storeReply = true.");
        }
    }

    /** Keeps a reply in the current transaction, and returns it as duplicates will be given it. */
    public @Nullable Object keep(MessageId id, @Nullable Object reply) {
        return this.results.keep(id, this.type, reply);
    }

    /** Returns the reply to the first delivery, or {@code null} if there was none or it is no longer kept. */
    public @Nullable Object find(MessageId id) {
        try {
            return this.results.get(id, this.type);
        } catch (ResultForgottenException ex) {
            logger.warn("A duplicate of {} is not answered: {}", id, ex.getMessage());
            return null;
        }
    }
}
