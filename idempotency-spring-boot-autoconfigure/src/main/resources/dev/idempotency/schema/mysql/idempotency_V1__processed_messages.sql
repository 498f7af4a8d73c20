-- The collation compares ids exactly: 'a' is neither 'A' nor 'a '.
create table if not exists idempotency_processed (
    consumer_id      varchar(200) character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id       varchar(255) character set utf8mb4 collate utf8mb4_0900_bin not null,
    processed_at     timestamp(6) not null default current_timestamp(6),
    record_topic     varchar(249) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    primary key (consumer_id, message_id),
    index idempotency_processed_cleanup (consumer_id, processed_at)
) engine = InnoDB;
