package dev.idempotency.listener;

import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** The container's own call of the listener; of a batch, with the arguments narrowed to the messages that may enter. */
record MethodCall(MethodInvocation invocation, Delivery delivery, ListenerDefinition definition)
        implements ListenerCall {

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

    private MethodInvocation narrow(List<Candidate> admitted) {
        int[] positions = admitted.stream().mapToInt(Candidate::position).toArray();
        @Nullable Object[] arguments = this.invocation.getArguments();
        if (positions.length < this.delivery.records().size()) {
            arguments = new BatchArguments(this.delivery.records(), positions).filter(arguments);
        }
        this.delivery.narrow(positions);
        return ((ProxyMethodInvocation) this.invocation).invocableClone(arguments);
    }
}
