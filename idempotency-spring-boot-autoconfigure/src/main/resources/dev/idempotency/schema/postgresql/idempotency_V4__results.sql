create table if not exists idempotency_result (
    consumer_id  varchar(200) collate "C"  not null,
    message_id   varchar(255) collate "C"  not null,
    processed_at timestamp with time zone  not null default current_timestamp,
    result_type  varchar(1000)             not null,
    result       text                      not null,
    constraint idempotency_result_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_result_cleanup on idempotency_result (consumer_id, processed_at);
