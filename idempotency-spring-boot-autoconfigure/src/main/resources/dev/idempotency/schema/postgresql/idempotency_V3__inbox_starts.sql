create table if not exists idempotency_inbox_starts (
    consumer_id      varchar(200) collate "C"  not null,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    message_id       varchar(255) collate "C"  not null,
    starts           integer                   not null,
    started_at       timestamp with time zone  not null default current_timestamp,
    constraint idempotency_inbox_starts_pkey primary key (consumer_id, record_topic, record_partition)
);
