create table if not exists idempotency_processed (
    consumer_id      varchar(200) collate "C"  not null,
    message_id       varchar(255) collate "C"  not null,
    processed_at     timestamp with time zone  not null default current_timestamp,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    constraint idempotency_processed_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_processed_cleanup on idempotency_processed (consumer_id, processed_at);
