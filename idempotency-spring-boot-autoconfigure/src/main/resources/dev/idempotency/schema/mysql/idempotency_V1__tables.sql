-- The collation compares ids exactly: 'a' is neither 'A' nor 'a '.
create table if not exists idempotency_processed (
    consumer_id      varchar(200) character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id       varchar(255) character set utf8mb4 collate utf8mb4_0900_bin not null,
    processed_at     timestamp(6) not null default current_timestamp(6),
    record_topic     varchar(249) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    payload_digest   bigint,
    primary key (consumer_id, message_id),
    index idempotency_processed_cleanup (consumer_id, processed_at)
) engine = InnoDB;

create table if not exists idempotency_position (
    consumer_id      varchar(200) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_topic     varchar(249) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition integer      not null,
    topic_id         varchar(36)  character set utf8mb4 collate utf8mb4_0900_bin not null,
    next_offset      bigint       not null,
    previous_offset  bigint       not null,
    processed_at     timestamp(6) not null default current_timestamp(6),
    primary key (consumer_id, record_topic, record_partition)
) engine = InnoDB;

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

create table if not exists idempotency_result (
    consumer_id  varchar(200)  character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id   varchar(255)  character set utf8mb4 collate utf8mb4_0900_bin not null,
    processed_at timestamp(6)  not null default current_timestamp(6),
    result_type  varchar(1000) character set utf8mb4 collate utf8mb4_0900_bin not null,
    result       longtext      character set utf8mb4 not null,
    primary key (consumer_id, message_id),
    index idempotency_result_cleanup (consumer_id, processed_at)
) engine = InnoDB;

create table if not exists idempotency_inbox (
    consumer_id      varchar(200) character set utf8mb4 collate utf8mb4_0900_bin not null,
    message_id       varchar(255) character set utf8mb4 collate utf8mb4_0900_bin not null,
    status           varchar(20)  not null,
    message_type     varchar(255) character set utf8mb4 collate utf8mb4_0900_bin,
    record_topic     varchar(249) character set utf8mb4 collate utf8mb4_0900_bin not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    record_key       longblob,
    record_headers   longtext     character set utf8mb4 not null,
    payload          longblob,
    payload_size     integer,
    payload_omitted  varchar(20),
    attempts         integer      not null,
    replays          integer      not null default 0,
    last_error       longtext     character set utf8mb4,
    received_at      timestamp(6) not null default current_timestamp(6),
    processed_at     timestamp(6) null,
    updated_at       timestamp(6) not null default current_timestamp(6),
    primary key (consumer_id, message_id),
    index idempotency_inbox_status (status, updated_at)
) engine = InnoDB;

create or replace view idempotency_inbox_readable as
select consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,
       convert(record_key using utf8mb4) as record_key, record_headers,
       case when json_valid(convert(payload using utf8mb4)) then convert(payload using utf8mb4) end as payload_json,
       convert(payload using utf8mb4) as payload_text,
       payload_size, payload_omitted, attempts, replays, last_error, received_at, processed_at, updated_at
from idempotency_inbox;
