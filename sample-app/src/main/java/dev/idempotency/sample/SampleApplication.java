package dev.idempotency.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/**
 * Payments arriving at accounts: the classic that duplicates corrupt, and a page to watch it happen.
 *
 * <p>What is worth copying stands in {@code dev.idempotency.sample.payment}: a record, a batch and a retry-topic
 * listener with {@code @IdempotentListener}, and one without it to compare with. The other packages make trouble and
 * show it.
 */
@SpringBootApplication
public class SampleApplication {

    private static final Logger logger = LoggerFactory.getLogger(SampleApplication.class);

    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }

    @EventListener
    void sayWhereThePageIs(ApplicationReadyEvent ready) {
        String port = ready.getApplicationContext().getEnvironment().getProperty("local.server.port");
        logger.info("The ledger is open: http://localhost:{}", port);
    }
}
