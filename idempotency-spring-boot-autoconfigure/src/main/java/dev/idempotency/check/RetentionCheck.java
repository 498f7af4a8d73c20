package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.kafka.retrytopic.DestinationTopic;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;

/** Checks that messages are remembered for as long as retry topics may bring them again, and an hour at least. */
final class RetentionCheck implements ListenerCheck {

    private static final int MANY = 10_000;
    private static final Duration SHORTEST = Duration.ofHours(1);

    private static final RuntimeException ANY_FAILURE = new RuntimeException("any failure");

    private final ListableBeanFactory beanFactory;
    private final Supplier<List<ProtectedListener>> all;

    RetentionCheck(ListableBeanFactory beanFactory, Supplier<List<ProtectedListener>> all) {
        this.beanFactory = beanFactory;
        this.all = all;
    }

    @Override
    public void check(ProtectedListener listener, Report report) {
        if (!listener.consumer().strategy().isForgetful()) {
            return;
        }
        Duration retention = listener.consumer().retention();
        Duration retries = retryTopicTime(listener);
        if (retention.isZero() || retention.isNegative()) {
            report.add(
                    Check.RETENTION_TOO_SHORT,
                    "Its messages are remembered for %s, which is not at all.".formatted(Findings.format(retention)),
                    "Raise idempotency.retention, or @IdempotentListener(retention = …).");
        } else if (retries.compareTo(retention) >= 0) {
            report.add(
                    Check.RETENTION_TOO_SHORT,
                    "Its messages are remembered for %s, but their retries can go on for %s."
                            .formatted(Findings.format(retention), Findings.format(retries)),
                    "Raise idempotency.retention or @IdempotentListener(retention = …) above %s, or let retries end"
                                    .formatted(Findings.format(retries))
                            + " earlier.");
        } else if (retention.compareTo(SHORTEST) < 0) {
            report.add(
                    Check.RETENTION_TOO_SHORT,
                    ("Its messages are remembered for %s, but %s is the least: rebalances and producers that send again"
                                    + " bring duplicates later than that.")
                            .formatted(Findings.format(retention), Findings.format(SHORTEST)),
                    "Raise idempotency.retention, or @IdempotentListener(retention = …).");
        }
    }

    private Duration retryTopicTime(ProtectedListener listener) {
        String listenerId = listener.container().getListenerId();
        boolean hasRetryTopics = this.all.get().stream()
                .map(other -> other.container().getMainListenerId())
                .anyMatch(mainId -> mainId != null && mainId.equals(listenerId));
        if (listenerId == null || !hasRetryTopics) {
            return Duration.ZERO;
        }
        DestinationTopicResolver resolver = this.beanFactory.getBean(DestinationTopicResolver.class);
        return listener.consumer().topics().stream()
                .map(topic -> chainTime(resolver, listenerId, resolver.getDestinationTopicByName(listenerId, topic)))
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    /** Along the chain of retry topics, as a message goes that fails every time. */
    private static Duration chainTime(DestinationTopicResolver resolver, String listenerId, DestinationTopic main) {
        Duration sum = Duration.ZERO;
        DestinationTopic current = main;
        for (int attempt = 1; attempt < MANY && current.shouldRetryOn(attempt, ANY_FAILURE); attempt++) {
            String name = Objects.requireNonNull(current.getDestinationName());
            DestinationTopic next =
                    current.isReusableRetryTopic() ? current : resolver.getNextDestinationTopicFor(listenerId, name);
            if (next.isDltTopic() || next.isNoOpsTopic()) {
                break;
            }
            sum = sum.plusMillis(next.getDestinationDelay());
            current = next;
        }
        return sum;
    }
}
