package dev.idempotency.chaos.consumer;

import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Replays a failed message of the inbox now and then, like an operator. */
@Component
@Profile("inbox")
class Replays implements DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(Replays.class);
    private static final int SECONDS = 7;

    private final Inbox inbox;
    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();

    Replays(Inbox inbox) {
        this.inbox = inbox;
        this.scheduler.scheduleWithFixedDelay(this::replayOne, SECONDS, SECONDS, TimeUnit.SECONDS);
    }

    private void replayOne() {
        try {
            List<InboxEntry> failed = this.inbox
                    .find(InboxQuery.ALL.withStatus(InboxStatus.FAILED).withConsumer("inbox"))
                    .entries();
            if (!failed.isEmpty()) {
                this.inbox.replay(failed.get(ThreadLocalRandom.current().nextInt(failed.size()))
                        .id());
            }
        } catch (RuntimeException ex) {
            logger.info("Nothing replayed: {}", ex.toString());
        }
    }

    @Override
    public void destroy() {
        this.scheduler.shutdownNow();
    }
}
