package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.result.KeptResults;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/** Finds out whether the replies of a listener are to be kept, and whether they can be. */
final class ReplyKeeperResolver {

    private static final Set<String> NOTHING = Set.of("void", "java.lang.Void", "kotlin.Unit");

    private final @Nullable KeptResults results;
    private final AnnotationTexts texts;

    ReplyKeeperResolver(@Nullable KeptResults results, AnnotationTexts texts) {
        this.results = results;
        this.texts = texts;
    }

    /** Who keeps a listener's replies, or {@code null} if nobody is to. */
    @Nullable
    ReplyKeeper resolve(ListenerCandidate listener) {
        if (!listener.annotation().keepReply()) {
            return null;
        }
        ResolvableType result = ResolvableType.forMethodReturnType(listener.method(), listener.targetClass());
        Class<?> raw = result.resolve(Object.class);
        refuseIf(
                ContainerFacts.deliversBatches(listener.container())
                        || this.texts
                                .resolveIfPossible(listener.annotation().transactionPerPoll())
                                .equals("true"),
                "It takes several records in one transaction, and a reply belongs to one.",
                "Let it take one record at a time, in a transaction of its own");
        refuseIf(
                NOTHING.contains(raw.getName()),
                "It returns nothing, so that there is no reply to be kept.",
                "Return the reply");
        refuseIf(
                raw == Object.class || result.hasUnresolvableGenerics(),
                "It returns a %s, of which there is no telling as what it is to be read again.".formatted(result),
                "Return something of a class of its own");
        refuseIf(
                isMessage(result) || (Collection.class.isAssignableFrom(raw) && isMessage(result.getGeneric(0))),
                "It returns a Message, whose headers are not kept.",
                "Return its payload");
        KeptResults kept = this.results;
        if (kept == null) {
            throw ListenerFault.found(
                    Check.KEEP_REPLY,
                    "Replies are kept in a table beside that of processed messages, but the application has a"
                            + " ProcessedMessageStore of its own.",
                    "Use the provided store, or remove keepReply = true.");
        }
        Type type = GenericTypeResolver.resolveType(listener.method().getGenericReturnType(), listener.targetClass());
        String obstacle = kept.obstacleFor(type);
        refuseIf(obstacle != null, "Its replies cannot be written: " + obstacle + ".", "Mend that");
        return new ReplyKeeper(kept, type);
    }

    private static boolean isMessage(ResolvableType type) {
        return Message.class.isAssignableFrom(type.resolve(Object.class));
    }

    private static void refuseIf(boolean condition, String what, String remedy) {
        if (condition) {
            throw ListenerFault.found(Check.KEEP_REPLY, what, remedy + ", or remove keepReply = true.");
        }
    }
}
