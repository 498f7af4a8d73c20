create table if not exists idempotency_inbox_starts (
    consumer_id      varchar(200) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_topic     varchar(249) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    message_id       varchar(255) character set utf8mb4 collate utf8mb4_0900_bin not null,
    starts           integer      not null,
    started_at       timestamp(6) not null default current_timestamp(6),
    primary key (consumer_id, record_topic, record_partition)
) engine = InnoDB;
