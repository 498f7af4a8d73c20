-- For MariaDB and MySQL, each of which reads only its own comment with '!': both collations compare ids exactly, so that 'a' is
-- neither 'A' nor 'a '. Times are UTC, whatever the time zone of the session.
create table if not exists idempotency_processed (
    consumer_id      varchar(200) not null,
    message_id       varchar(255) not null,
    processed_at     datetime(6)  not null default (utc_timestamp(6)),
    record_topic     varchar(249) not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    payload_digest   bigint,
    primary key (consumer_id, message_id),
    index idempotency_processed_cleanup (consumer_id, processed_at)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

create table if not exists idempotency_position (
    consumer_id      varchar(200) not null,
    record_topic     varchar(249) not null,
    record_partition integer      not null,
    topic_id         varchar(36) not null,
    next_offset      bigint       not null,
    previous_offset  bigint       not null,
    processed_at     datetime(6)  not null default (utc_timestamp(6)),
    primary key (consumer_id, record_topic, record_partition)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

-- The message id is that of an entity; the columns are named as in the other tables, whose cleanup they share.
create table if not exists idempotency_version (
    consumer_id        varchar(200) not null,
    message_id         varchar(255) not null,
    version_kind       varchar(6) not null,
    version            decimal(38, 9) not null,
    processed_at       datetime(6)    not null default (utc_timestamp(6)),
    record_topic       varchar(249) not null,
    record_partition   integer        not null,
    record_offset      bigint         not null,
    previous_version   decimal(38, 9),
    previous_at        datetime(6),
    previous_topic     varchar(249),
    previous_partition integer,
    previous_offset    bigint,
    claim_token        bigint         not null,
    primary key (consumer_id, message_id),
    index idempotency_version_cleanup (consumer_id, processed_at)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

create table if not exists idempotency_result (
    consumer_id  varchar(200) not null,
    message_id   varchar(255) not null,
    processed_at datetime(6)   not null default (utc_timestamp(6)),
    result_type  varchar(1000) not null,
    result       longtext not null,
    primary key (consumer_id, message_id),
    index idempotency_result_cleanup (consumer_id, processed_at)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

create table if not exists idempotency_step (
    consumer_id  varchar(200) not null,
    message_id   varchar(255) not null,
    step_name    varchar(100) not null,
    status       varchar(20)  not null,
    processed_at datetime(6)  not null default (utc_timestamp(6)),
    result       longtext,
    primary key (consumer_id, message_id, step_name),
    index idempotency_step_cleanup (consumer_id, processed_at)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

create table if not exists idempotency_inbox (
    consumer_id      varchar(200) not null,
    message_id       varchar(255) not null,
    status           varchar(20)  not null,
    message_type     varchar(255),
    record_topic     varchar(249) not null,
    record_partition integer      not null,
    record_offset    bigint       not null,
    record_key       longblob,
    record_headers   longtext not null,
    payload          longblob,
    payload_size     integer,
    payload_omitted  varchar(20),
    attempts         integer      not null,
    replays          integer      not null default 0,
    last_error       longtext,
    received_at      datetime(6)  not null default (utc_timestamp(6)),
    processed_at     datetime(6),
    updated_at       datetime(6)  not null default (utc_timestamp(6)),
    primary key (consumer_id, message_id),
    index idempotency_inbox_status (status, updated_at)
) engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */;

-- A row for each group of business keys, to be locked.
create table if not exists idempotency_lock (
    stripe integer not null,
    primary key (stripe)
) engine = InnoDB;

insert ignore into idempotency_lock (stripe)
with recursive digit (n) as (select 0 union all select n + 1 from digit where n < 31)
select high.n * 32 + low.n from digit as high cross join digit as low;

create or replace view idempotency_inbox_readable as
select consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,
       convert(record_key using utf8mb4) as record_key, record_headers,
       case when json_valid(convert(payload using utf8mb4)) then convert(payload using utf8mb4) end as payload_json,
       convert(payload using utf8mb4) as payload_text,
       payload_size, payload_omitted, attempts, replays, last_error, received_at, processed_at, updated_at
from idempotency_inbox;
