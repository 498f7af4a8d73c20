package dev.idempotency.sample.mishap;

import org.springframework.context.event.EventListener;
import org.springframework.core.task.TaskExecutor;
import org.springframework.kafka.event.ConcurrentContainerStoppedEvent;
import org.springframework.kafka.event.ConsumerStoppedEvent.Reason;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.stereotype.Component;

/** Restarts killed consumers, as Kubernetes would restart the application. */
@Component
class ConsumerRevival {

    private final TaskExecutor executor;

    ConsumerRevival(TaskExecutor applicationTaskExecutor) {
        this.executor = applicationTaskExecutor;
    }

    @EventListener
    void onStopped(ConcurrentContainerStoppedEvent event) {
        if (event.getReason() == Reason.ERROR) {
            // Uses another thread, as this one is still stopping the container.
            this.executor.execute(event.getContainer(ConcurrentMessageListenerContainer.class)::start);
        }
    }
}
