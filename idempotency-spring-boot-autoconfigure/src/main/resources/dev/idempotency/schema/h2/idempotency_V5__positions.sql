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
