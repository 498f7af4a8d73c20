create table if not exists idempotency_result (
    consumer_id  varchar(200)              not null,
    message_id   varchar(255)              not null,
    processed_at timestamp with time zone  default current_timestamp not null,
    result_type  varchar(1000)             not null,
    result       character large object    not null,
    constraint idempotency_result_pkey primary key (consumer_id, message_id)
);

create index if not exists idempotency_result_cleanup on idempotency_result (consumer_id, processed_at);
