package dev.idempotency.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/**
 * A ledger of payments, the classic example that duplicates corrupt, with a page that shows it happening.
 *
 * <p>The code worth copying is in {@code dev.idempotency.sample.payment}: a record, a batch and a retry-topic listener with
 * {@code @IdempotentListener}, and one without it for comparison. The other packages cause failures and show their effects.
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
