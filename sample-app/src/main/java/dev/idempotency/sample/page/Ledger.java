package dev.idempotency.sample.page;

import java.math.BigDecimal;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The balances in the database, with the expected ones. */
@Component
class Ledger {

    private static final String ACCOUNTS = """
            select account.name,
                   coalesce((select sum(amount) from payment where payment.account = account.name), 0) as paid_in,
                   account.balance as protected_balance,
                   unprotected_account.balance as unprotected_balance
              from account
              join unprotected_account using (name)
             order by account.name
            """;

    private static final String RESULTS = """
            with paid as (
                select coalesce(sum(amount), 0) as amount, coalesce(sum(floor(amount / 10)), 0) as points
                  from payment
            )
            select 'ledger' as consumer, sum(balance) as actual, (select amount from paid) as expected
              from account
            union all
            select 'turnover', amount, (select amount from paid)
              from turnover
            union all
            select 'receipts', coalesce(sum(amount), 0), (select amount from paid)
              from receipt
            union all
            select 'notifications', coalesce(sum(amount), 0), (select amount from paid)
              from notification
            union all
            select 'points', sum(points.points), (select points from paid)
              from points
            """;

    private final JdbcClient jdbc;

    Ledger(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    List<Account> accounts() {
        return this.jdbc.sql(ACCOUNTS).query(Account.class).list();
    }

    List<Result> results() {
        return this.jdbc.sql(RESULTS).query(Result.class).list();
    }

    /**
     * An account, with the balances of both listeners.
     *
     * @param paidIn the expected balance: every payment once
     * @param protectedBalance the balance of the listener with {@code @IdempotentListener}
     * @param unprotectedBalance the balance of the listener without it
     */
    record Account(String name, BigDecimal paidIn, BigDecimal protectedBalance, BigDecimal unprotectedBalance) {}

    /**
     * The sum of a consumer's effects.
     *
     * @param expected the sum if every payment counts once
     */
    record Result(String consumer, BigDecimal actual, BigDecimal expected) {}
}
