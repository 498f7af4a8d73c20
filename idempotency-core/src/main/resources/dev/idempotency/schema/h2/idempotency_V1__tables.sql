create table if not exists idempotency_processed (
    consumer_id      varchar(200)              not null,
    message_id       varchar(255)              not null,
    processed_at     timestamp with time zone  default current_timestamp not null,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    payload_digest   bigint,
    constraint idempotency_processed_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_processed_cleanup on idempotency_processed (consumer_id, processed_at);

create table if not exists idempotency_position (
    consumer_id      varchar(200)              not null,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    topic_id         varchar(36)               not null,
    next_offset      bigint                    not null,
    previous_offset  bigint                    not null,
    processed_at     timestamp with time zone  default current_timestamp not null,
    constraint idempotency_position_pkey primary key (consumer_id, record_topic, record_partition)
);

-- The message id is that of an entity; the columns are named as in the other tables, whose cleanup they share.
create table if not exists idempotency_version (
    consumer_id        varchar(200)              not null,
    message_id         varchar(255)              not null,
    version_kind       varchar(6)                not null,
    version            numeric(38, 9)            not null,
    processed_at       timestamp with time zone  default current_timestamp not null,
    record_topic       varchar(249)              not null,
    record_partition   integer                   not null,
    record_offset      bigint                    not null,
    previous_version   numeric(38, 9),
    previous_at        timestamp with time zone,
    previous_topic     varchar(249),
    previous_partition integer,
    previous_offset    bigint,
    claim_token        bigint                    not null,
    constraint idempotency_version_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_version_cleanup on idempotency_version (consumer_id, processed_at);

create table if not exists idempotency_result (
    consumer_id  varchar(200)              not null,
    message_id   varchar(255)              not null,
    processed_at timestamp with time zone  default current_timestamp not null,
    result_type  varchar(1000)             not null,
    result       character large object    not null,
    constraint idempotency_result_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_result_cleanup on idempotency_result (consumer_id, processed_at);

create table if not exists idempotency_step (
    consumer_id  varchar(200)              not null,
    message_id   varchar(255)              not null,
    step_name    varchar(100)              not null,
    status       varchar(20)               not null,
    processed_at timestamp with time zone  default current_timestamp not null,
    result       character large object,
    constraint idempotency_step_pkey primary key (consumer_id, message_id, step_name)
);

create index if not exists idempotency_step_cleanup on idempotency_step (consumer_id, processed_at);

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

-- A row for each group of business keys, to be locked.
create table if not exists idempotency_lock (
    stripe integer not null,
    constraint idempotency_lock_pkey primary key (stripe)
);

insert into idempotency_lock (stripe)
select x from system_range(0, 1023) where x not in (select stripe from idempotency_lock);

create or replace view idempotency_inbox_readable as
select consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,
       utf8tostring(record_key) as record_key, record_headers, utf8tostring(payload) as payload_text,
       payload_size, payload_omitted, attempts, replays, last_error, received_at, processed_at, updated_at
from idempotency_inbox;
