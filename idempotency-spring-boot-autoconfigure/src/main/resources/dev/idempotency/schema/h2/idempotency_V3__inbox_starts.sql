create table if not exists idempotency_inbox_starts (
    consumer_id      varchar(200)              not null,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    message_id       varchar(255)              not null,
    starts           integer                   not null,
    started_at       timestamp with time zone  default current_timestamp not null,
    constraint idempotency_inbox_starts_pkey primary key (consumer_id, record_topic, record_partition)
);
