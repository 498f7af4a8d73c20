package dev.idempotency.sample;

import java.math.BigDecimal;
import java.util.Locale;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The sums of all balances in the database.
 *
 * @param payments how many payments there are, each counted once
 * @param paidIn what they come to
 * @param withAnnotation the balance of the protected listener
 * @param without the balance of the other one
 * @param turnover what the batch listener has added up
 * @param receipts what the listener with an inbox has written receipts for
 * @param notifications what the second hop has heard of receipts
 * @param points what the retry-topic listener has given
 * @param pointsDue what it should have given
 * @param processedByLedger the messages that are recorded as processed
 * @param keptInInbox the messages that are kept as processed
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

    /** Whether all that is protected is right: every payment counted, and counted once. */
    boolean areRight() {
        return this.withAnnotation.equals(this.paidIn)
                && this.turnover.equals(this.paidIn)
                && this.receipts.equals(this.paidIn)
                && this.notifications.equals(this.paidIn)
                && this.points == this.pointsDue
                && this.keptInInbox == this.payments
                && this.processedByLedger == this.payments;
    }

    /** Whether the page says the same, to the cent. */
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
