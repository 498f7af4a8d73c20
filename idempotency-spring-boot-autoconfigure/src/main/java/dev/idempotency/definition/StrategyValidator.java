package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.store.ClaimedTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** What does not go with the strategy of a listener: an attribute that would be ignored, or promise what cannot be kept. */
final class StrategyValidator {

    private final Strategy strategy;
    private final UnaryOperator<String> texts;
    private final List<ListenerFault> faults = new ArrayList<>();

    private StrategyValidator(Strategy strategy, UnaryOperator<String> texts) {
        this.strategy = strategy;
        this.texts = texts;
    }

    /** {@code texts} resolves the placeholders of a text: what it resolves to nothing is not stated. */
    static List<ListenerFault> validate(
            ListenerCandidate candidate, UnaryOperator<String> texts, RetryTopics retryTopics) {
        StrategyValidator validator =
                new StrategyValidator(candidate.annotation().strategy(), texts);
        validator.validateAttributes(candidate.annotation());
        validator.validateConflicts(candidate.annotation());
        validator.validateVersion(candidate.annotation());
        validator.refuse(
                retryTopics.areOf(candidate),
                List.of(Strategy.OFFSET),
                "A retry topic, be it by @RetryableTopic or by a RetryTopicConfiguration,",
                "each attempt is another record, in another topic");
        return validator.faults;
    }

    private void validateAttributes(IdempotentListener annotation) {
        refuse(
                isStated(annotation.key()),
                List.of(Strategy.OFFSET, Strategy.UNIQUE_CONSTRAINT),
                "key = \"" + annotation.key() + "\"",
                "messages are recognised by something else than a key");
        refuse(
                isStated(annotation.retention()),
                List.of(Strategy.OFFSET, Strategy.UNIQUE_CONSTRAINT),
                "retention = \"" + annotation.retention() + "\"",
                "nothing is forgotten with time");
        refuse(
                isTrue(annotation.inbox()),
                List.of(Strategy.OFFSET),
                "inbox = \"true\"",
                "a replay is another record, so that what was processed would be processed again");
        refuse(
                annotation.keepReply(),
                List.of(Strategy.OFFSET),
                "keepReply = true",
                "replies are kept with the id of a message");
        refuse(
                isTrue(annotation.inbox()),
                List.of(Strategy.UNIQUE_CONSTRAINT),
                "inbox = \"true\"",
                "messages have no id under which they could be kept");
        refuse(
                annotation.keepReply(),
                List.of(Strategy.UNIQUE_CONSTRAINT),
                "keepReply = true",
                "replies are kept with the id of a message");
        validateConstraint(annotation);
    }

    private void validateConstraint(IdempotentListener annotation) {
        boolean named = isStated(annotation.uniqueConstraint());
        if (named && this.strategy != Strategy.UNIQUE_CONSTRAINT) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "uniqueConstraint = \"%s\" has no effect with strategy = Strategy.%s."
                            .formatted(annotation.uniqueConstraint(), this.strategy),
                    "Remove it, or write strategy = Strategy.UNIQUE_CONSTRAINT."));
        } else if (!named && this.strategy == Strategy.UNIQUE_CONSTRAINT) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "strategy = Strategy.UNIQUE_CONSTRAINT does not say which constraint tells its duplicates.",
                    "Name it: @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint ="
                            + " \"payment_pkey\")."));
        }
    }

    /** What a violation must never do is commit: half of what the listener did would stay. */
    static List<ListenerFault> validate(Strategy strategy, TransactionAttribute attribute) {
        StrategyValidator validator = new StrategyValidator(strategy, UnaryOperator.identity());
        validator.refuse(
                ClaimedTransaction.hasExceptionsThatCommit(attribute),
                List.of(Strategy.UNIQUE_CONSTRAINT),
                "noRollbackFor",
                "what a duplicate did up to the violation would be committed");
        validator.refuse(
                attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NESTED,
                List.of(Strategy.UNIQUE_CONSTRAINT),
                "propagation = NESTED",
                "a violation would be undone up to a savepoint, and look like one in another transaction");
        return validator.faults;
    }

    private void validateConflicts(IdempotentListener annotation) {
        refuse(
                annotation.conflicts() != OnConflict.DEFAULT,
                List.of(Strategy.OFFSET),
                "conflicts = OnConflict." + annotation.conflicts(),
                "there are no ids that two messages could share");
        refuse(
                annotation.conflicts() != OnConflict.DEFAULT,
                List.of(Strategy.UNIQUE_CONSTRAINT),
                "conflicts = OnConflict." + annotation.conflicts(),
                "nothing is kept that the payload of another message could be compared with");
        refuse(
                annotation.conflicts() != OnConflict.DEFAULT,
                List.of(Strategy.VERSION),
                "conflicts = OnConflict." + annotation.conflicts(),
                "two states with one version are taken for one, whatever their payloads");
    }

    private void validateVersion(IdempotentListener annotation) {
        boolean stated = isStated(annotation.version());
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
        if (!isStated(annotation.key())) {
            this.faults.add(new ListenerFault(
                    Check.STRATEGY,
                    "Strategy.VERSION compares the versions of an entity, but nothing says which it is: headers have the"
                            + " ids of messages.",
                    "State key = … for the id of the entity, as in key = \"#payload.accountId\"."));
        }
        refuse(
                isTrue(annotation.inbox()),
                List.of(Strategy.VERSION),
                "inbox = \"true\"",
                "a message that is replayed is stale once something newer has been processed");
        refuse(
                annotation.keepReply(),
                List.of(Strategy.VERSION),
                "keepReply = true",
                "what is stale has no reply to be given again");
    }

    private boolean isTrue(String flag) {
        return this.texts.apply(flag).equals("true");
    }

    private boolean isStated(String text) {
        return StringUtils.hasText(this.texts.apply(text));
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
