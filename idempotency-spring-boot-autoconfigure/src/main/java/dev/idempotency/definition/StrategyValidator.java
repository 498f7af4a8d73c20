package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.store.ClaimedTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Finds what does not go with the strategy of a listener: attributes that would be ignored, or promise too much. */
final class StrategyValidator {

    private static final String NO_KEY = "messages are recognised by something else than a key";
    private static final String NOT_FORGOTTEN = "nothing is forgotten with time";
    private static final String REPLY_NEEDS_ID = "replies are kept with the id of a message";

    private final Strategy strategy;
    private final UnaryOperator<String> texts;
    private final List<ListenerFault> faults = new ArrayList<>();

    private StrategyValidator(Strategy strategy, UnaryOperator<String> texts) {
        this.strategy = strategy;
        this.texts = texts;
    }

    /** {@code texts} resolves the placeholders of a text: an attribute that resolves to nothing is not stated. */
    static List<ListenerFault> validate(
            ListenerCandidate candidate,
            TransactionAttribute attribute,
            boolean hasRetryTopics,
            UnaryOperator<String> texts) {
        IdempotentListener annotation = candidate.annotation();
        StrategyValidator validator = new StrategyValidator(annotation.strategy(), texts);
        validator.refuseAttributes(annotation);
        validator.refuseTransaction(attribute);
        validator.requireConstraint(annotation);
        validator.requireVersion(annotation);
        validator.refuse(
                hasRetryTopics,
                "A retry topic, be it by @RetryableTopic or by a RetryTopicConfiguration,",
                Map.of(Strategy.OFFSET, "each attempt is another record, in another topic"));
        return validator.faults;
    }

    private void refuseAttributes(IdempotentListener annotation) {
        refuse(
                isStated(annotation.key()),
                "key = \"" + annotation.key() + "\"",
                Map.of(Strategy.OFFSET, NO_KEY, Strategy.UNIQUE_CONSTRAINT, NO_KEY));
        refuse(
                isStated(annotation.retention()),
                "retention = \"" + annotation.retention() + "\"",
                Map.of(Strategy.OFFSET, NOT_FORGOTTEN, Strategy.UNIQUE_CONSTRAINT, NOT_FORGOTTEN));
        refuse(
                this.texts.apply(annotation.inbox()).equals("true"),
                "inbox = \"true\"",
                Map.of(
                        Strategy.OFFSET,
                        "a replay is another record, so that what was processed would be processed again",
                        Strategy.UNIQUE_CONSTRAINT,
                        "messages have no id under which they could be kept",
                        Strategy.VERSION,
                        "a message that is replayed is stale once something newer has been processed"));
        refuse(
                annotation.keepReply(),
                "keepReply = true",
                Map.of(
                        Strategy.OFFSET,
                        REPLY_NEEDS_ID,
                        Strategy.UNIQUE_CONSTRAINT,
                        REPLY_NEEDS_ID,
                        Strategy.VERSION,
                        "what is stale has no reply to be given again"));
        refuse(
                annotation.conflicts() != OnConflict.DEFAULT,
                "conflicts = OnConflict." + annotation.conflicts(),
                Map.of(
                        Strategy.OFFSET,
                        "there are no ids that two messages could share",
                        Strategy.UNIQUE_CONSTRAINT,
                        "nothing is kept that the payload of another message could be compared with",
                        Strategy.VERSION,
                        "two states with one version are taken for one, whatever their payloads"));
    }

    /** A violation must never commit: half of what the listener did would stay. */
    private void refuseTransaction(TransactionAttribute attribute) {
        refuse(
                ClaimedTransaction.hasExceptionsThatCommit(attribute),
                "noRollbackFor",
                Map.of(Strategy.UNIQUE_CONSTRAINT, "what a duplicate did up to the violation would be committed"));
    }

    private void requireConstraint(IdempotentListener annotation) {
        boolean named = isStated(annotation.uniqueConstraint());
        if (named && this.strategy != Strategy.UNIQUE_CONSTRAINT) {
            add(
                    "uniqueConstraint = \"%s\" has no effect with strategy = Strategy.%s."
                            .formatted(annotation.uniqueConstraint(), this.strategy),
                    "Remove it, or write strategy = Strategy.UNIQUE_CONSTRAINT.");
        } else if (!named && this.strategy == Strategy.UNIQUE_CONSTRAINT) {
            add(
                    "strategy = Strategy.UNIQUE_CONSTRAINT does not say which constraint tells its duplicates.",
                    "Name it: @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint ="
                            + " \"payment_pkey\").");
        }
    }

    private void requireVersion(IdempotentListener annotation) {
        boolean stated = isStated(annotation.version());
        if (stated && this.strategy != Strategy.VERSION) {
            add(
                    "version = \"%s\" does not go with strategy = Strategy.%s, which compares no versions."
                            .formatted(annotation.version(), this.strategy),
                    "Remove it, or state strategy = Strategy.VERSION.");
        }
        if (!stated && this.strategy == Strategy.VERSION) {
            add(
                    "Strategy.VERSION compares versions, but nothing says where they are.",
                    "State version = …, as in @IdempotentListener(strategy = Strategy.VERSION, key ="
                            + " \"#payload.accountId\", version = \"#payload.version\").");
        }
        if (!isStated(annotation.key()) && this.strategy == Strategy.VERSION) {
            add(
                    "Strategy.VERSION compares the versions of an entity, but nothing says which it is: headers have the"
                            + " ids of messages.",
                    "State key = … for the id of the entity, as in key = \"#payload.accountId\".");
        }
    }

    private boolean isStated(String text) {
        return StringUtils.hasText(this.texts.apply(text));
    }

    private void refuse(boolean present, String what, Map<Strategy, String> reasons) {
        if (present && reasons.containsKey(this.strategy)) {
            add(
                    "%s does not go with strategy = Strategy.%s: %s."
                            .formatted(what, this.strategy, reasons.get(this.strategy)),
                    "Remove it, or use the default, Strategy.MESSAGE_ID.");
        }
    }

    private void add(String what, String remedy) {
        this.faults.add(new ListenerFault(Check.STRATEGY, what, remedy));
    }
}
