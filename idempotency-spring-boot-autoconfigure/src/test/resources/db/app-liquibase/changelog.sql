--liquibase formatted sql
--changeset application:1
create table idempotency_processed_must_not_exist as select 1 / (1 - count(*)::int) as ok from pg_tables where tablename = 'idempotency_processed';
create table application_table (id integer);
