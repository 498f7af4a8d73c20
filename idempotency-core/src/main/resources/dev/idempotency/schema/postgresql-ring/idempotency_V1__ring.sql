-- The slots of the ring. They inherit from the table of processed messages, so that a query of that table reads all of them.
create table if not exists idempotency_processed_0 (
    constraint idempotency_processed_0_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_1 (
    constraint idempotency_processed_1_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_2 (
    constraint idempotency_processed_2_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_3 (
    constraint idempotency_processed_3_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_4 (
    constraint idempotency_processed_4_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_5 (
    constraint idempotency_processed_5_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_6 (
    constraint idempotency_processed_6_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);
create table if not exists idempotency_processed_7 (
    constraint idempotency_processed_7_pkey primary key (consumer_id, message_id)
) inherits (idempotency_processed);

create index if not exists idempotency_processed_0_time on idempotency_processed_0
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_1_time on idempotency_processed_1
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_2_time on idempotency_processed_2
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_3_time on idempotency_processed_3
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_4_time on idempotency_processed_4
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_5_time on idempotency_processed_5
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_6_time on idempotency_processed_6
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);
create index if not exists idempotency_processed_7_time on idempotency_processed_7
    using brin (processed_at) with (pages_per_range = 32, autosummarize = on);

-- When consumers were active, in steps of minutes: slots have no index for that question. The columns are named as in the
-- other tables, whose cleanup they share.
create table if not exists idempotency_activity (
    consumer_id  varchar(200) collate "C"  not null,
    message_id   varchar(255) collate "C"  not null,
    processed_at timestamp with time zone  not null,
    constraint idempotency_activity_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_activity_cleanup on idempotency_activity (consumer_id, processed_at);

-- The control row: the only one, made by the first instance that starts.
create table if not exists idempotency_ring (
    slots    integer                   not null,
    width_ms bigint                    not null,
    state    varchar(10)               not null,
    since    timestamp with time zone  not null default current_timestamp,
    constraint idempotency_ring_state check (state in ('both', 'drain', 'ring'))
);

create unique index if not exists idempotency_ring_only_row on idempotency_ring ((true));

-- Refuses ids with a time in the table of processed messages itself, once these belong into a slot: same id, same table.
-- The lock has the next step of the switch wait for whoever is about to commit one. The state is that of an outage: it is no
-- error of the message.
create or replace function idempotency_ring_refuse() returns trigger language plpgsql
    security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_state text;
begin
    execute format('select state from %I.idempotency_ring for share', tg_table_schema) into found_state;
    if found_state in ('drain', 'ring') then
        raise exception 'The id % belongs into a slot of the ring, as idempotency_ring.state is %', new.message_id, found_state
            using errcode = '58000', hint = 'Set idempotency.retention-mode=ring in every instance.';
    end if;
    return new;
end $$;

create or replace trigger idempotency_ring_refuse before insert on idempotency_processed for each row
    when (new.message_id ~ '^(0[0-3][0-9a-fA-F]{6}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|0[0-3][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{24})$')
    execute function idempotency_ring_refuse();

-- Keeps the steps of a switch in order: both, drain, ring. Slots and width decide which table an id is in, and stay.
create or replace function idempotency_ring_step() returns trigger language plpgsql as $$
declare
    old_ids boolean;
begin
    if tg_op = 'DELETE' then
        if old.state <> 'both' then
            raise exception 'The ring is in state %: ids are in its slots only', old.state
                using errcode = '55000', hint = 'Move them back first: docs/sql/ring-to-table.sql.';
        end if;
        return old;
    end if;
    if new.slots <> old.slots or new.width_ms <> old.width_ms or old.state || '>' || new.state not in ('both>drain', 'drain>ring') then
        raise exception 'The ring cannot go from % (% slots of % ms) to % (% slots of % ms)',
            old.state, old.slots, old.width_ms, new.state, new.slots, new.width_ms using errcode = '55000';
    end if;
    if new.state = 'ring' then
        execute format('select exists (select 1 from only %I.idempotency_processed where message_id ~ %L)', tg_table_schema,
            '^(0[0-3][0-9a-fA-F]{6}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|0[0-3][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{24})$')
            into old_ids;
        if old_ids then
            raise exception 'idempotency_processed still has ids that belong into a slot' using errcode = '55000',
                hint = 'Wait until the cleanup has removed them, about one retention after state drain began.';
        end if;
    end if;
    new.since = current_timestamp;
    return new;
end $$;

create or replace trigger idempotency_ring_step before update or delete on idempotency_ring for each row
    execute function idempotency_ring_step();
