package dev.idempotency.actuate;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;

/**
 * Refuses requests to the library's endpoints with a parameter or property that they do not have. Actuator passes over
 * them, so that a misspelt one would widen a request to more than was meant.
 */
public final class KnownParameters implements OperationInvokerAdvisor {

    private static final Set<EndpointId> OURS = Set.of(
            EndpointId.of("idempotency"),
            EndpointId.of("idempotencyinbox"),
            EndpointId.of("idempotencydeadletters"),
            EndpointId.of("idempotencyreconciliation"));

    @Override
    public OperationInvoker apply(
            EndpointId endpointId,
            OperationType operationType,
            OperationParameters parameters,
            OperationInvoker invoker) {
        if (!OURS.contains(endpointId)) {
            return invoker;
        }
        Set<String> known =
                parameters.stream().map(OperationParameter::getName).collect(Collectors.toCollection(TreeSet::new));
        return context -> {
            for (String name : context.getArguments().keySet()) {
                if (!known.contains(name)) {
                    throw new InvalidEndpointRequestException(
                            String.format(
                                    Locale.ROOT,
                                    "There is no parameter '%s' of this request; there are %s",
                                    EndpointInput.printable(name),
                                    known),
                            "Unknown parameter");
                }
            }
            return invoker.invoke(context);
        };
    }
}
