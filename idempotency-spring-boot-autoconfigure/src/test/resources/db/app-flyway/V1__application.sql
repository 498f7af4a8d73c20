-- Fails if the library's table is there already: the application's own migrations come first.
create table idempotency_processed_must_not_exist as select 1 / (1 - count(*)::int) as ok from pg_tables where tablename = 'idempotency_processed';
create table application_table (id integer);
