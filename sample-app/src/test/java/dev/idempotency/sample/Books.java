package dev.idempotency.sample;

import java.math.BigDecimal;
import java.util.Locale;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The sums of all balances in the database.
 *
 * @param payments the number of payments, each counted once
 * @param paidIn the sum of these payments
 * @param withAnnotation the sum of the protected listener
 * @param without the sum of the unprotected listener
 * @param turnover the sum of the batch listener
 * @param receipts the sum of the receipts, written by the listener with an inbox
 * @param notifications the sum of the receipts that the second hop was notified of
 * @param points the points of the retry-topic listener
 * @param pointsDue the expected points
 * @param processedByLedger the number of messages that are recorded as processed
 * @param keptInInbox the number of messages in the inbox with the status processed
 */
record Books(
        long payments,
        BigDecimal paidIn,
        BigDecimal withAnnotation,
        BigDecimal without,
        BigDecimal turnover,
        BigDecimal receipts,
        BigDecimal notifications,
        long points,
        long pointsDue,
        long processedByLedger,
        long keptInInbox) {

    private static final String SQL = """
            select (select count(*) from payment) as payments,
                   (select coalesce(sum(amount), 0.00) from payment) as paid_in,
                   (select sum(balance) from account) as with_annotation,
                   (select sum(balance) from unprotected_account) as without,
                   (select amount from turnover) as turnover,
                   (select coalesce(sum(amount), 0.00) from receipt) as receipts,
                   (select coalesce(sum(amount), 0.00) from notification) as notifications,
                   (select sum(points) from points) as points,
                   (select coalesce(sum(floor(amount / 10)), 0) from payment) as points_due,
                   (select count(*) from idempotency_processed where consumer_id = 'ledger') as processed_by_ledger,
                   (select count(*) from idempotency_inbox where status = 'processed') as kept_in_inbox
            """;

    static Books read(JdbcClient jdbc) {
        return jdbc.sql(SQL).query(Books.class).single();
    }

    /** Whether the sums of all protected listeners are right: every payment counts exactly once. */
    boolean areRight() {
        return this.withAnnotation.equals(this.paidIn)
                && this.turnover.equals(this.paidIn)
                && this.receipts.equals(this.paidIn)
                && this.notifications.equals(this.paidIn)
                && this.points == this.pointsDue
                && this.keptInInbox == this.payments
                && this.processedByLedger == this.payments;
    }

    /** Whether the page shows the same sums, to the cent. */
    boolean areShownOn(PageUnderTest page) {
        return page.amount("Total", "with").equals(money(this.withAnnotation))
                && page.amount("Total", "without").equals(money(this.without))
                && page.amount("ledger", "result").equals(money(this.withAnnotation))
                && page.amount("turnover", "result").equals(money(this.turnover))
                && page.amount("receipts", "result").equals(money(this.receipts))
                && page.amount("notifications", "result").equals(money(this.notifications))
                && page.amount("points", "result").equals(String.format(Locale.ENGLISH, "%,d", this.points))
                && page.count("ledger", "processed") == this.processedByLedger;
    }

    static String money(BigDecimal amount) {
        return String.format(Locale.ENGLISH, "%,.2f", amount);
    }
}
