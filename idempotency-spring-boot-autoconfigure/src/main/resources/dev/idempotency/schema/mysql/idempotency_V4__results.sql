create table if not exists idempotency_result (
    consumer_id  varchar(200)  character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id   varchar(255)  character set utf8mb4 collate utf8mb4_0900_bin not null,
    processed_at timestamp(6)  not null default current_timestamp(6),
    result_type  varchar(1000) character set utf8mb4 collate utf8mb4_0900_bin not null,
    result       longtext      character set utf8mb4 not null,
    primary key (consumer_id, message_id),
    index idempotency_result_cleanup (consumer_id, processed_at)
) engine = InnoDB;
