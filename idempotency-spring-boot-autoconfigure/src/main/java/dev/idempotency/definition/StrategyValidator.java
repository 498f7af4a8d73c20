package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.util.StringUtils;

/** What does not go with the strategy of a listener: an attribute that would be ignored, or promise what cannot be kept. */
final class StrategyValidator {

    private final Strategy strategy;
    private final List<ListenerFault> faults = new ArrayList<>();

    private StrategyValidator(Strategy strategy) {
        this.strategy = strategy;
    }

    static List<ListenerFault> validate(ListenerCandidate candidate) {
        StrategyValidator validator =
                new StrategyValidator(candidate.annotation().strategy());
        validator.validateAttributes(candidate.annotation());
        validator.validateVersion(candidate.annotation());
        validator.validateListener(candidate);
        return validator.faults;
    }

    private void validateAttributes(IdempotentListener annotation) {
        refuse(
                StringUtils.hasText(annotation.key()),
                List.of(Strategy.OFFSET),
                "key = \"" + annotation.key() + "\"",
                "messages are recognised by something else than a key");
        refuse(
                StringUtils.hasText(annotation.retention()),
                List.of(Strategy.OFFSET),
                "retention = \"" + annotation.retention() + "\"",
                "nothing is forgotten with time");
        refuse(
                annotation.inbox(),
                List.of(Strategy.OFFSET),
                "inbox = true",
                "a replay is another record, so that what was processed would be processed again");
        refuse(
                annotation.keepReply(),
                List.of(Strategy.OFFSET),
                "keepReply = true",
                "replies are kept with the id of a message");
    }

    private void validateVersion(IdempotentListener annotation) {
        boolean stated = StringUtils.hasText(annotation.version());
        if (this.strategy != Strategy.VERSION) {
            if (stated) {
                this.faults.add(new ListenerFault(
                        Check.STRATEGY,
                        "version = \"%s\" does not go with strategy = Strategy.%s, which compares no versions."
                                .formatted(annotation.version(), this.strategy),
                        "Remove it, or state strategy = Strategy.VERSION."));
            }
            return;
        }
        if (!stated) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "Strategy.VERSION compares versions, but nothing says where they are.",
                    "State version = …, as in @IdempotentListener(strategy = Strategy.VERSION, key ="
                            + " \"#payload.accountId\", version = \"#payload.version\")."));
        }
        if (!StringUtils.hasText(annotation.key())) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "Strategy.VERSION compares the versions of an entity, but nothing says which it is: headers have the"
                            + " ids of messages.",
                    "State key = … for the id of the entity, as in key = \"#payload.accountId\"."));
        }
        refuse(
                annotation.inbox(),
                List.of(Strategy.VERSION),
                "inbox = true",
                "a message that is replayed is stale once something newer has been processed");
        refuse(
                annotation.keepReply(),
                List.of(Strategy.VERSION),
                "keepReply = true",
                "what is stale has no reply to be given again");
    }

    private void validateListener(ListenerCandidate candidate) {
        refuse(
                hasRetryTopics(candidate),
                List.of(Strategy.OFFSET),
                "@RetryableTopic",
                "each attempt is another record, in another topic");
    }

    private static boolean hasRetryTopics(ListenerCandidate candidate) {
        return AnnotatedElementUtils.hasAnnotation(candidate.element(), RetryableTopic.class)
                || AnnotatedElementUtils.hasAnnotation(candidate.targetClass(), RetryableTopic.class);
    }

    private void refuse(boolean present, List<Strategy> strategies, String what, String why) {
        if (present && strategies.contains(this.strategy)) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "%s does not go with strategy = Strategy.%s: %s.".formatted(what, this.strategy, why),
                    "Remove it, or use the default, Strategy.MESSAGE_ID."));
        }
    }
}
