-- The message id is that of an entity; the columns are named as in the other tables, whose cleanup they share.
create table if not exists idempotency_version (
    consumer_id        varchar(200) collate "C"  not null,
    message_id         varchar(255) collate "C"  not null,
    version_kind       varchar(6)                not null,
    version            numeric(38, 9)            not null,
    processed_at       timestamp with time zone  not null default current_timestamp,
    record_topic       varchar(249)              not null,
    record_partition   integer                   not null,
    record_offset      bigint                    not null,
    previous_version   numeric(38, 9),
    previous_at        timestamp with time zone,
    previous_topic     varchar(249),
    previous_partition integer,
    previous_offset    bigint,
    constraint idempotency_version_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_version_cleanup on idempotency_version (consumer_id, processed_at);
