create table if not exists idempotency_processed (
    consumer_id      varchar(200)              not null,
    message_id       varchar(255)              not null,
    processed_at     timestamp with time zone  default current_timestamp not null,
    record_topic     varchar(249)              not null,
    record_partition integer                   not null,
    record_offset    bigint                    not null,
    constraint idempotency_processed_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_processed_cleanup on idempotency_processed (consumer_id, processed_at);
