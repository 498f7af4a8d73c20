package dev.idempotency.sample.mishap;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The planned mishaps of payments. Each affects every listener of the payment, once per listener unless it lasts. */
@Component
public class Mishaps {

    private final Map<String, Mishap> planned = new ConcurrentHashMap<>();
    private final Set<Struck> struck = ConcurrentHashMap.newKeySet();

    /** Plans a mishap for a payment that is about to be sent. */
    public void plan(Mishap mishap, String paymentId) {
        this.planned.put(paymentId, mishap);
    }

    /** Whether the mishap affects this listener now. */
    boolean strikes(Mishap mishap, String paymentId, String victim) {
        return this.planned.get(paymentId) == mishap
                && (mishap.lasts() || this.struck.add(new Struck(paymentId, victim)));
    }

    /** Ends all lasting mishaps. */
    public void mend() {
        this.planned.values().removeIf(Mishap::lasts);
    }

    private record Struck(String paymentId, String victim) {}
}
