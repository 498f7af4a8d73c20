create table if not exists idempotency_inbox (
    consumer_id      varchar(200) collate "C"  not null,
    message_id       varchar(255) collate "C"  not null,
    status           varchar(20)               not null,
    message_type     varchar(255),
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    record_key       bytea,
    record_headers   text                      not null,
    payload          bytea,
    payload_size     integer,
    payload_omitted  varchar(20),
    attempts         integer                   not null,
    replays          integer                   not null default 0,
    last_error       text,
    received_at      timestamp with time zone  not null default current_timestamp,
    processed_at     timestamp with time zone,
    updated_at       timestamp with time zone  not null default current_timestamp,
    constraint idempotency_inbox_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_inbox_status on idempotency_inbox (status, updated_at);

create or replace function idempotency_text(document bytea) returns text language plpgsql immutable as $$
begin
    return convert_from(document, 'UTF8');
exception when others then
    return null;
end $$;

create or replace function idempotency_json(document bytea) returns jsonb language plpgsql immutable as $$
begin
    return convert_from(document, 'UTF8')::jsonb;
exception when others then
    return null;
end $$;

create or replace view idempotency_inbox_readable as
select consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,
       idempotency_text(record_key) as record_key, record_headers,
       idempotency_json(payload) as payload_json, idempotency_text(payload) as payload_text,
       payload_size, payload_omitted, attempts, replays, last_error, received_at, processed_at, updated_at
from idempotency_inbox;
