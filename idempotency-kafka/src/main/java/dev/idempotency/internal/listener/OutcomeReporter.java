package dev.idempotency.internal.listener;

import dev.idempotency.MessageConflictException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Stale;
import dev.idempotency.internal.dedup.ClaimResult;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.definition.ConflictHandling;
import dev.idempotency.internal.definition.InboxRecorder;
import dev.idempotency.internal.definition.ListenerDefinition;
import java.time.Instant;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports to observers and the inbox what became of a listener's messages, once that is certain. */
record OutcomeReporter(ListenerDefinition definition) {

    private static final Logger logger = LoggerFactory.getLogger(OutcomeReporter.class);

    void delivered(List<? extends ConsumerRecord<?, ?>> records) {
        long oldest = Long.MAX_VALUE;
        for (ConsumerRecord<?, ?> record : records) {
            oldest = Math.min(oldest, record.timestamp());
        }
        if (!records.isEmpty()) {
            this.definition.observer().delivered(Instant.ofEpochMilli(oldest));
        }
    }

    /** Stores the messages in the inbox, in the listener's transaction, which is still to be committed. */
    void processed(List<InboundMessage> messages) {
        reportToInbox(messages, InboxRecorder::processed);
    }

    void committed(ClaimResult result, long nanos) {
        IdempotencyEventListener observer = this.definition.observer();
        if (!result.isEmpty()) {
            observer.committed(nanos);
        }
        for (InboundMessage message : result.accepted()) {
            if (message.id() != null) {
                observer.processed(message.id(), message.coordinates());
            } else {
                observer.missingKey(message.coordinates());
            }
        }
        for (Duplicate duplicate : result.duplicates()) {
            observer.duplicate(duplicate);
            logger.debug("Dropped {}, processed before: {}", duplicate.coordinates(), duplicate);
        }
        for (Stale stale : result.stale()) {
            observer.stale(stale);
            logger.debug("Dropped {}, older than what was processed before: {}", stale.coordinates(), stale);
        }
        result.conflicts().forEach((message, conflict) -> {
            this.definition.conflicts().dropped(conflict);
            keepConflicting(message, conflict, ConflictHandling.failure(conflict));
        });
    }

    /** Reports that a message fails because it has the id of another one; returns what it fails with. */
    MessageConflictException refused(InboundMessage message, Conflict conflict) {
        MessageConflictException failure = ConflictHandling.failure(conflict);
        this.definition.observer().conflict(conflict);
        this.definition.observer().failed(message.coordinates(), failure);
        keepConflicting(message, conflict, failure);
        return failure;
    }

    private void keepConflicting(InboundMessage message, Conflict conflict, MessageConflictException failure) {
        InboxRecorder inbox = this.definition.inbox();
        if (inbox != null) {
            inbox.conflicting(conflict.id(), message.coordinates(), message.record(), failure);
        }
    }

    /** Reports that a message was rolled back; the inbox records it only if the listener was called with it. */
    void failed(RecordCoordinates coordinates, Throwable failure, List<InboundMessage> called) {
        this.definition.observer().failed(coordinates, failure);
        reportToInbox(called, (inbox, delivered) -> inbox.failed(delivered, failure));
    }

    /** Messages without an id are not stored: they could not be found again. */
    private void reportToInbox(
            List<InboundMessage> messages, BiConsumer<InboxRecorder, List<InboxRecorder.Delivered>> report) {
        InboxRecorder inbox = this.definition.inbox();
        if (inbox == null) {
            return;
        }
        List<InboxRecorder.Delivered> delivered = messages.stream()
                .filter(message -> message.id() != null)
                .map(message -> new InboxRecorder.Delivered(message.id(), message.coordinates(), message.record()))
                .toList();
        if (!delivered.isEmpty()) {
            report.accept(inbox, delivered);
        }
    }
}
