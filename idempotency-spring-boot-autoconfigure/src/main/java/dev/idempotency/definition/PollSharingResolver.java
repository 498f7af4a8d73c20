package dev.idempotency.definition;

import dev.idempotency.kafka.ContainerFacts;
import java.util.List;
import java.util.Objects;

/** Decides, once per container, whether the records of a poll share one transaction, and how. */
final class PollSharingResolver {

    /**
     * What was decided.
     *
     * @param sharing how records share a transaction
     * @param demanded whether a listener says that they have to
     * @param obstacles why they cannot, where they were to
     */
    record Decision(PollSharing sharing, boolean demanded, List<ListenerFault> obstacles) {

        private static final Decision NOT_ASKED = new Decision(PollSharing.NONE, false, List.of());

        /** What keeps the application from starting. */
        List<ListenerFault> faults() {
            return this.demanded ? this.obstacles : List.of();
        }
    }

    private final boolean byDefault;
    private final RetryTopics retryTopics;

    PollSharingResolver(boolean byDefault, RetryTopics retryTopics) {
        this.byDefault = byDefault;
        this.retryTopics = retryTopics;
    }

    /**
     * Decides for the protected methods behind one container.
     *
     * @param listeners its methods: one, or all the handlers of a class
     * @param resolved what is known of them, in the same order
     */
    Decision decide(List<ListenerCandidate> listeners, List<ListenerResolver.Resolved> resolved) {
        ListenerCandidate first = listeners.get(0);
        boolean demanded =
                listeners.stream().anyMatch(listener -> listener.annotation().transactionPerPoll());
        if (!(demanded || this.byDefault) || ContainerFacts.deliversBatches(first.container())) {
            return Decision.NOT_ASKED;
        }
        List<ListenerDefinition> definitions = resolved.stream()
                .map(ListenerResolver.Resolved::definition)
                .filter(Objects::nonNull)
                .toList();
        PollSharing sharing =
                areIdsKnown(listeners, definitions) ? PollSharing.CLAIMED_TOGETHER : PollSharing.CLAIMED_ONE_BY_ONE;
        TransactionPerPollValidator validator = new TransactionPerPollValidator(demanded);
        validator.refuseContainer(first.container());
        for (int i = 0; i < listeners.size(); i++) {
            validator.refuseMethod(listeners.get(i), resolved.get(i).listener(), this.retryTopics);
        }
        validator.refuseHandlers(
                listeners,
                resolved.stream().map(ListenerResolver.Resolved::listener).toList());
        validator.refuseInbox(definitions, sharing);
        boolean possible = validator.obstacles().isEmpty() && definitions.size() == listeners.size();
        return new Decision(possible ? sharing : PollSharing.NONE, demanded, validator.obstacles());
    }

    /** Whether the records alone tell who claims them, and under which ids. */
    private static boolean areIdsKnown(List<ListenerCandidate> listeners, List<ListenerDefinition> definitions) {
        ListenerCandidate first = listeners.get(0);
        return first.container().getRecordInterceptor() == null
                && definitions.stream()
                        .allMatch(definition -> definition.candidates().isOfRecord())
                && listeners.stream().allMatch(listener -> listener.annotation().equals(first.annotation()));
    }
}
