package dev.idempotency.chaos.check;

import java.util.List;

/**
 * The outcome of the messages of one consumer.
 *
 * @param consumer the consumer
 * @param applied messages that had an effect
 * @param deadLettered messages that were dead-lettered
 * @param lost messages that were neither applied nor dead-lettered
 * @param doubled messages that were applied more often than they may be
 * @param outOfOrder versions that were applied after a newer one of their entity
 * @param wronglyDeadLettered messages that were dead-lettered but do not always fail
 * @param deadLetteredAndApplied messages that were both
 * @param overcounted instances whose meters count more processed messages than were applied
 */
public record Verdict(
        String consumer,
        int applied,
        int deadLettered,
        List<String> lost,
        List<String> doubled,
        List<String> outOfOrder,
        List<String> wronglyDeadLettered,
        List<String> deadLetteredAndApplied,
        List<String> overcounted) {

    public boolean isClean() {
        return this.lost.isEmpty()
                && this.doubled.isEmpty()
                && this.outOfOrder.isEmpty()
                && this.wronglyDeadLettered.isEmpty()
                && this.deadLetteredAndApplied.isEmpty()
                && this.overcounted.isEmpty();
    }

    Verdict withOvercounted(List<String> instances) {
        return new Verdict(
                this.consumer,
                this.applied,
                this.deadLettered,
                this.lost,
                this.doubled,
                this.outOfOrder,
                this.wronglyDeadLettered,
                this.deadLetteredAndApplied,
                instances);
    }
}
