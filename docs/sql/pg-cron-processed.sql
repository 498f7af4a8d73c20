-- Removes processed messages as the library's own cleanup does, with pg_cron. See docs/retention.md.
-- The statement does not know your application: name the retentions in its "case". A consumer that no longer exists keeps
-- its last 7 days until you delete its rows. For tables that are not partitioned.
select cron.schedule('idempotency-cleanup', '* * * * *', $$
    with recursive consumer (id) as (
        (select consumer_id from idempotency_processed order by consumer_id limit 1)
        union all
        select (
            select consumer_id from idempotency_processed
            where consumer_id > consumer.id
            order by consumer_id
            limit 1
        )
        from consumer
        where consumer.id is not null
    ), held (id, age, instant, pauses) as (
        select
            id, age, least((select max(processed_at) from idempotency_processed where consumer_id = id), current_timestamp)
                - age, 0
        from (
            select id, case id
                when 'billing' then interval '30 days'
                else interval '7 days'
            end as age
            from consumer
            where id is not null
        ) as retention
        union all
        select id, age, before.last - age, pauses + 1
        from held
        cross join lateral (
            select max(processed_at) as last from idempotency_processed where consumer_id = id and processed_at < instant
        ) as before
        cross join lateral (
            select min(processed_at) as first from idempotency_processed where consumer_id = id and processed_at >= instant
        ) as after
        where pauses < 3 and after.first - before.last > age
    ), cutoff (id, instant) as (
        select id, min(instant) from held group by id
    )
    delete from idempotency_processed
    where ctid = any (array(
        select expired.ctid
        from cutoff
        cross join lateral (
            select ctid
            from idempotency_processed
            where consumer_id = cutoff.id and processed_at < cutoff.instant
            order by processed_at
            limit 10000
            for update skip locked
        ) as expired
    ))
$$);
