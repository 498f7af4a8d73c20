create table if not exists idempotency_position (
    consumer_id      varchar(200) collate "C"  not null,
    record_topic     varchar(249) collate "C"  not null,
    record_partition integer                   not null,
    topic_id         varchar(36)               not null,
    next_offset      bigint                    not null,
    previous_offset  bigint                    not null,
    processed_at     timestamp with time zone  not null default current_timestamp,
    constraint idempotency_position_pkey primary key (consumer_id, record_topic, record_partition)
) with (fillfactor = 50);
