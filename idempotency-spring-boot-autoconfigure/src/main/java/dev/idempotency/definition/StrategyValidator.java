package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.store.ClaimedTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Finds what does not go with the strategy of a listener: attributes that would be ignored, or promise too much. */
final class StrategyValidator {

    private final Strategy strategy;
    private final UnaryOperator<String> texts;
    private final List<ListenerFault> faults = new ArrayList<>();

    private StrategyValidator(Strategy strategy, UnaryOperator<String> texts) {
        this.strategy = strategy;
        this.texts = texts;
    }

    /** {@code texts} resolves the placeholders of a text: an attribute that resolves to nothing is not stated. */
    static List<ListenerFault> validate(
            IdempotentListener annotation,
            TransactionAttribute attribute,
            boolean hasRetryTopics,
            UnaryOperator<String> texts) {
        StrategyValidator validator = new StrategyValidator(annotation.strategy(), texts);
        if (annotation.strategy() != Strategy.MESSAGE_ID) {
            validator.refuseAttributes(annotation);
        }
        // What a duplicate did up to the violation would be committed; each attempt is another record, in another
        // topic.
        validator.refuse(
                annotation.strategy() == Strategy.UNIQUE_CONSTRAINT
                        && ClaimedTransaction.hasExceptionsThatCommit(attribute),
                "noRollbackFor",
                "what a duplicate did up to the violation would be committed");
        validator.refuse(
                annotation.strategy() == Strategy.OFFSET && hasRetryTopics,
                "A retry topic, be it by @RetryableTopic or by a RetryTopicConfiguration,",
                "each attempt is another record, in another topic");
        validator.require(
                Strategy.UNIQUE_CONSTRAINT,
                "uniqueConstraint",
                annotation.uniqueConstraint(),
                "strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = \"payment_pkey\"");
        validator.require(
                Strategy.VERSION,
                "version",
                annotation.version(),
                "strategy = Strategy.VERSION, key = \"#payload.accountId\", version = \"#payload.version\"");
        if (annotation.strategy() == Strategy.VERSION && !validator.isStated(annotation.key())) {
            validator.add(
                    "Strategy.VERSION compares the versions of an entity, but nothing says which it is: headers have the"
                            + " ids of messages.",
                    "State key = … for the id of the entity, as in key = \"#payload.accountId\".");
        }
        return validator.faults;
    }

    private void refuseAttributes(IdempotentListener annotation) {
        boolean forgetful = this.strategy.isForgetful();
        String reason = "it keeps no ids of messages";
        refuse(!forgetful && isStated(annotation.key()), "key = \"" + annotation.key() + "\"", reason);
        refuse(
                !forgetful && isStated(annotation.retention()),
                "retention = \"" + annotation.retention() + "\"",
                reason);
        refuse(this.texts.apply(annotation.inbox()).equals("true"), "inbox = \"true\"", reason);
        refuse(annotation.keepReply(), "keepReply = true", reason);
        refuse(
                annotation.conflicts() != OnConflict.DEFAULT,
                "conflicts = OnConflict." + annotation.conflicts(),
                reason);
    }

    private void require(Strategy owner, String name, String value, String example) {
        if (isStated(value) && this.strategy != owner) {
            add(
                    "%s = \"%s\" has no effect with strategy = Strategy.%s.".formatted(name, value, this.strategy),
                    "Remove it, or write strategy = Strategy.%s.".formatted(owner));
        } else if (!isStated(value) && this.strategy == owner) {
            add(
                    "strategy = Strategy.%s needs %s = ….".formatted(owner, name),
                    "State it, as in @IdempotentListener(%s).".formatted(example));
        }
    }

    private boolean isStated(String text) {
        return StringUtils.hasText(this.texts.apply(text));
    }

    private void refuse(boolean present, String what, String reason) {
        if (present) {
            add(
                    "%s does not go with strategy = Strategy.%s: %s.".formatted(what, this.strategy, reason),
                    "Remove it, or use the default, Strategy.MESSAGE_ID.");
        }
    }

    private void add(String what, String remedy) {
        this.faults.add(new ListenerFault(Check.STRATEGY, what, remedy));
    }
}
