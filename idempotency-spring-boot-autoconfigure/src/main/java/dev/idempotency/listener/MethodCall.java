package dev.idempotency.listener;

import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerMethod;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** The container's own call of the listener; of a batch, with the arguments narrowed to the messages that may enter. */
record MethodCall(MethodInvocation invocation, Delivery delivery, ListenerDefinition definition)
        implements ListenerCall {

    private static final String KEEP_ELEMENTS =
            "Let the BatchMessageConverter, and aspects around @IdempotentListener, keep"
                    + " one element for each record.";

    /** Of a payload that has no element per record, there is no telling which key in it is whose. */
    @Override
    public void requireKeys() {
        int records = this.delivery.records().size();
        if (this.delivery.isBatch()
                && records > 1
                && !this.definition.candidates().variables().isEmpty()
                && !hasElements(this.invocation.getArguments())) {
            throw new UnprotectedListenerException(
                    ("%s of consumer '%s' was to be called with %d records, whose keys are in their payloads, but its payload"
                                    + " has no element per record. "
                                    + KEEP_ELEMENTS)
                            .formatted(this.definition.method(), this.definition.consumer(), records));
        }
    }

    @Override
    public MessageView view(int position) {
        return new ArgumentsView(
                this.definition.method(),
                this.delivery.records(),
                this.delivery.isBatch(),
                this.invocation::getArguments,
                position);
    }

    @Override
    public @Nullable Object call(List<Candidate> admitted) throws Throwable {
        return this.delivery.call(this.definition, this.delivery.isBatch() ? narrow(admitted) : this.invocation);
    }

    /** The lists are the listener's own: it may sort or empty them, and be called again with the same records. */
    private MethodInvocation narrow(List<Candidate> admitted) {
        int[] positions = admitted.stream().mapToInt(Candidate::position).toArray();
        this.delivery.narrow(positions);
        return ((ProxyMethodInvocation) this.invocation)
                .invocableClone(filter(this.invocation.getArguments(), positions));
    }

    private @Nullable Object[] filter(@Nullable Object[] arguments, int[] positions) {
        int records = this.delivery.records().size();
        BatchArguments filter = new BatchArguments(this.delivery.records(), positions);
        if (positions.length == records) {
            return keepUncopied(filter.filter(arguments), arguments);
        }
        if (!hasElements(arguments)) {
            throw new UnprotectedListenerException(
                    ("%s of consumer '%s' was to be called with %d of %d records, as the others are duplicates, but its"
                                    + " payload has no element per record, so that they cannot be taken out. "
                                    + KEEP_ELEMENTS)
                            .formatted(
                                    this.definition.method(), this.definition.consumer(), positions.length, records));
        }
        return filter.filter(arguments);
    }

    /** A converter or an aspect may have made of the batch what has no element per record any more. */
    private boolean hasElements(@Nullable Object[] arguments) {
        int payload = this.definition.method().payloadIndex();
        return payload == ListenerMethod.NONE
                || BatchArguments.hasElements(
                        arguments[payload], this.delivery.records().size());
    }

    /** A list whose copy the method would not take, for which start-up checks can be relaxed, stays as it is. */
    private @Nullable Object[] keepUncopied(@Nullable Object[] copies, @Nullable Object[] arguments) {
        Class<?>[] types = this.invocation.getMethod().getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (!types[i].isInstance(copies[i])) {
                copies[i] = arguments[i];
            }
        }
        return copies;
    }
}
