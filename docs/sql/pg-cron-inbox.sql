-- Removes messages from the inbox, for which the wall clock counts, with pg_cron. See docs/retention.md.
-- This is for all consumers. To keep the messages of one for longer, exclude it (and consumer_id <> 'audit') and give it
-- its own job. For tables that are not partitioned.
select cron.schedule('idempotency-inbox-cleanup', '* * * * *', $$
    delete from idempotency_inbox
    where ctid = any (array(
        select expired.ctid
        from (values
            ('processed', interval '7 days'),
            ('failed', interval '30 days'),
            ('forgotten', interval '30 days'),
            ('replayed', interval '30 days')
        ) as kept (status, age)
        cross join lateral (
            select ctid
            from idempotency_inbox
            where status = kept.status and updated_at < current_timestamp - kept.age
            order by updated_at
            limit 10000
            for update skip locked
        ) as expired
    ))
$$);
