package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Whether there are messages under the name that earlier versions gave to a listener in a {@code @Configuration} class,
 * made of the class that Spring generates of it.
 */
final class RenamedConsumerCheck implements ListenerCheck {

    private final ListableBeanFactory beanFactory;

    RenamedConsumerCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        Class<?> generated = AopUtils.getTargetClass(listener.bean());
        Class<?> type = ClassUtils.getUserClass(generated);
        IdempotentListener annotation = IdempotentListenerAnnotations.find(listener.method(), generated);
        if (generated == type || annotation == null || StringUtils.hasText(annotation.consumer())) {
            return;
        }
        String name = listener.consumer().name();
        String former = formerName(listener, generated, type);
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (store != null && store.statistics(List.of(former)).oldestAges().containsKey(former)) {
            findings.add(
                    Check.RENAMED_CONSUMER,
                    listener,
                    "Its consumer name is '%s' now, and was '%s', under which there are processed messages."
                            .formatted(name, former),
                    "Stop the instances of the earlier version, and give the messages the new name: update"
                            + " idempotency_processed set consumer_id = '%1$s' where consumer_id = '%2$s'; update"
                                    .formatted(quoted(name), quoted(former))
                            + " idempotency_inbox set consumer_id = '%1$s' where consumer_id = '%2$s';"
                                    .formatted(quoted(name), quoted(former))
                            + " Or keep the old name in @IdempotentListener(consumer = …).");
        }
    }

    private static String formerName(ProtectedListener listener, Class<?> generated, Class<?> type) {
        String name = listener.consumer().name();
        String simple = listener.consumer().listener();
        String group = name.substring(0, name.length() - simple.length());
        return group
                + generated.getSimpleName()
                + simple.substring(type.getSimpleName().length());
    }

    private static String quoted(String text) {
        return text.replace("'", "''");
    }
}
