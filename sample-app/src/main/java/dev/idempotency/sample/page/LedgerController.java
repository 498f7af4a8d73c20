package dev.idempotency.sample.page;

import dev.idempotency.sample.mishap.Mishap;
import dev.idempotency.sample.mishap.Mishaps;
import dev.idempotency.sample.mishap.Rewind;
import dev.idempotency.sample.payment.Payment;
import dev.idempotency.sample.payment.Payments;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Serves the data that the page polls, with one method for each of its buttons. */
@RestController
@RequestMapping("/api")
class LedgerController {

    private final Payments payments;
    private final Mishaps mishaps;
    private final Rewind rewind;
    private final Ledger ledger;
    private final Counters counters;
    private final Backlog backlog;
    private final DedupHits hits;
    private final DeliveryFeed feed;

    LedgerController(
            Payments payments,
            Mishaps mishaps,
            Rewind rewind,
            Ledger ledger,
            Counters counters,
            Backlog backlog,
            DedupHits hits,
            DeliveryFeed feed) {
        this.payments = payments;
        this.mishaps = mishaps;
        this.rewind = rewind;
        this.ledger = ledger;
        this.counters = counters;
        this.backlog = backlog;
        this.hits = hits;
        this.feed = feed;
    }

    /** Returns all data of the page, with the deliveries after the one with this number. */
    @GetMapping("/ledger")
    LedgerView ledger(@RequestParam(defaultValue = "0") long after) throws InterruptedException {
        // Reads the backlog first: if it is empty, the rest is final.
        long waiting = this.backlog.records();
        return new LedgerView(
                Instant.now().getEpochSecond(),
                waiting,
                this.ledger.accounts(),
                this.ledger.results(),
                this.counters.all(),
                this.hits.recent(),
                this.feed.after(after));
    }

    /** Sends a payment this many times, after planning a mishap for it if requested. */
    @PostMapping("/payments")
    Payment send(@RequestParam(defaultValue = "1") int times, @RequestParam @Nullable Mishap mishap) {
        Payment payment = this.payments.invent();
        if (mishap != null) {
            this.mishaps.plan(mishap, payment.id());
        }
        this.payments.send(Collections.nCopies(times, payment));
        return payment;
    }

    @PostMapping("/bursts")
    void burst() {
        this.payments.sendBurst(1000, 200);
    }

    @PostMapping("/replays")
    void replay() throws InterruptedException {
        this.rewind.toTheBeginning();
    }

    /** Fixes the listeners, so that their dead letters can be redriven. */
    @PostMapping("/repairs")
    void repair() {
        this.mishaps.mend();
    }

    @ExceptionHandler
    ProblemDetail onImpossible(IllegalStateException ex) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, String.valueOf(ex.getMessage()));
    }

    /**
     * The data of the page.
     *
     * @param now the second since 1970 at which the chart ends
     * @param backlog the number of records that are not consumed yet, over all groups
     */
    record LedgerView(
            long now,
            long backlog,
            List<Ledger.Account> accounts,
            List<Ledger.Result> results,
            List<ConsumerCounts> consumers,
            List<DedupHits.Hits> hits,
            List<Delivery> deliveries) {}
}
