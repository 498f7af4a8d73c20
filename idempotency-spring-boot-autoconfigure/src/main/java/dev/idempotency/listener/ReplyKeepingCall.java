package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ReplyKeeper;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls a listener with one record, and keeps its reply in the same transaction, for duplicates of the request. */
record ReplyKeepingCall(MethodCall call, ReplyKeeper replies) implements ListenerCall {

    @Override
    public Delivery delivery() {
        return this.call.delivery();
    }

    @Override
    public ListenerDefinition definition() {
        return this.call.definition();
    }

    @Override
    public MessageView view(int position) {
        return this.call.view(position);
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        Object reply = this.call.call(admitted);
        MessageId id = admitted.get(0).id();
        if (id == null || delivery().isNacked()) {
            return reply;
        }
        delivery().repliesTo(id);
        return this.replies.keep(id, reply);
    }

    @Override
    public @Nullable Object replyAgain(List<Candidate> duplicates) {
        MessageId id = duplicates.get(0).id();
        Object reply = (id != null) ? this.replies.find(id) : null;
        if (id != null && reply != null) {
            delivery().repliesTo(id);
            delivery().answer();
        }
        return reply;
    }
}
