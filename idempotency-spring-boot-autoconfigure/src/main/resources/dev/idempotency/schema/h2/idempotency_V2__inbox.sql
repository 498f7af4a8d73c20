create table if not exists idempotency_inbox (
    consumer_id      varchar(200)              not null,
    message_id       varchar(255)              not null,
    status           varchar(20)               not null,
    message_type     varchar(255),
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    record_key       binary large object,
    record_headers   character large object    not null,
    payload          binary large object,
    payload_size     integer,
    payload_omitted  varchar(20),
    attempts         integer                   not null,
    replays          integer                   default 0 not null,
    last_error       character large object,
    received_at      timestamp with time zone  default current_timestamp not null,
    processed_at     timestamp with time zone,
    updated_at       timestamp with time zone  default current_timestamp not null,
    constraint idempotency_inbox_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_inbox_status on idempotency_inbox (status, updated_at);

create or replace view idempotency_inbox_readable as
select consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,
       utf8tostring(record_key) as record_key, record_headers, utf8tostring(payload) as payload_text,
       payload_size, payload_omitted, attempts, replays, last_error, received_at, processed_at, updated_at
from idempotency_inbox;
