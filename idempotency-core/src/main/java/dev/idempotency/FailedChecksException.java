package dev.idempotency;

import dev.idempotency.StartupCheck.Finding;
import java.util.List;
import java.util.stream.Collectors;

/** Listeners would run without their protection, so the application does not start. */
@SuppressWarnings("serial")
public class FailedChecksException extends IdempotencyException {

    private final transient List<Finding> findings;

    public FailedChecksException(List<Finding> findings) {
        super(
                findings.stream()
                        .map(Finding::toString)
                        .collect(Collectors.joining("\n", "@IdempotentListener cannot keep its promise:\n", "")),
                null);
        this.findings = List.copyOf(findings);
    }

    /** All that was found. */
    public List<Finding> findings() {
        return this.findings;
    }
}
