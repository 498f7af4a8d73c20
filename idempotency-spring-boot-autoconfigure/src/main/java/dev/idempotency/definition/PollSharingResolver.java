package dev.idempotency.definition;

import dev.idempotency.kafka.ContainerFacts;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Decides, once per container, whether the records of a poll share one transaction. */
final class PollSharingResolver {

    /**
     * What was decided.
     *
     * @param isGranted whether records share a transaction
     * @param demanded whether a listener says that they have to
     * @param obstacles why they cannot, where they were to
     */
    record Decision(boolean isGranted, boolean demanded, List<ListenerFault> obstacles) {

        private static final Decision NOT_ASKED = new Decision(false, false, List.of());

        /** What keeps the application from starting. */
        List<ListenerFault> faults() {
            return this.demanded ? this.obstacles : List.of();
        }
    }

    private final boolean byDefault;
    private final AnnotationTexts texts;
    private final RetryTopics retryTopics;

    PollSharingResolver(boolean byDefault, AnnotationTexts texts, RetryTopics retryTopics) {
        this.byDefault = byDefault;
        this.texts = texts;
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
        Set<String> asked = listeners.stream()
                .map(listener ->
                        this.texts.resolveIfPossible(listener.annotation().transactionPerPoll()))
                .collect(Collectors.toSet());
        boolean demanded = asked.contains("true");
        boolean wanted = demanded || (this.byDefault && !asked.contains("false"));
        if (!wanted || ContainerFacts.deliversBatches(first.container())) {
            return Decision.NOT_ASKED;
        }
        List<ListenerDefinition> definitions = resolved.stream()
                .map(ListenerResolver.Resolved::definition)
                .filter(Objects::nonNull)
                .toList();
        TransactionPerPollValidator validator = new TransactionPerPollValidator(demanded);
        validator.refuseContainer(first.container());
        for (int i = 0; i < listeners.size(); i++) {
            validator.refuseMethod(listeners.get(i), resolved.get(i).listener(), this.retryTopics);
        }
        validator.refuseHandlers(
                listeners,
                resolved.stream().map(ListenerResolver.Resolved::listener).toList());
        validator.refuseKeys(definitions);
        boolean possible = validator.obstacles().isEmpty() && definitions.size() == listeners.size();
        return new Decision(possible, demanded, validator.obstacles());
    }
}
