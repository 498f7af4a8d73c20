-- The message id is that of an entity; the columns are named as in the other tables, whose cleanup they share.
create table if not exists idempotency_version (
    consumer_id        varchar(200)   character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id         varchar(255)   character set utf8mb4 collate utf8mb4_0900_bin not null,
    version_kind       varchar(6)     character set utf8mb4 collate utf8mb4_0900_bin not null,
    version            decimal(38, 9) not null,
    processed_at       timestamp(6)   not null default current_timestamp(6),
    record_topic       varchar(249)   character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition   integer        not null,
    record_offset      bigint         not null,
    previous_version   decimal(38, 9),
    previous_at        timestamp(6)   null,
    previous_topic     varchar(249)   character set utf8mb4 collate utf8mb4_0900_bin,
    previous_partition integer,
    previous_offset    bigint,
    claim_token        bigint         not null,
    primary key (consumer_id, message_id),
    index idempotency_version_cleanup (consumer_id, processed_at)
) engine = InnoDB;
