package dev.idempotency.autoconfigure;

import dev.idempotency.FailedChecksException;
import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Finding;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/** Describes every listener that would not be protected: what, where, why it is dangerous, and the remedy. */
final class FailedChecksFailureAnalyzer extends AbstractFailureAnalyzer<FailedChecksException> {

    @Override
    protected FailureAnalysis analyze(@Nullable Throwable rootFailure, FailedChecksException cause) {
        List<Finding> findings = cause.findings();
        String description = IntStream.range(0, findings.size())
                .mapToObj(i -> "  %d. %s".formatted(i + 1, findings.get(i).description()))
                .collect(Collectors.joining(
                        "%n%n".formatted(), "@IdempotentListener cannot keep its promise:%n%n".formatted(), ""));
        String action = IntStream.range(0, findings.size())
                .mapToObj(i -> "  %d. %s".formatted(i + 1, findings.get(i).remedy()))
                .collect(Collectors.joining("%n".formatted(), "%n".formatted(), relaxation(findings)));
        return new FailureAnalysis(description, action, cause);
    }

    /** With one finding that must be fixed, relaxing the others does not help. */
    private static String relaxation(List<Finding> findings) {
        List<StartupCheck> checks =
                findings.stream().map(Finding::check).distinct().toList();
        return checks.stream().anyMatch(StartupCheck::isIndispensable)
                ? ""
                : "%n%nTo start all the same, with a warning: idempotency.checks.relaxed=%s"
                        .formatted(StringUtils.collectionToCommaDelimitedString(checks));
    }
}
