-- MySQL has no 'add column if not exists', and the script may have to run again.
set @idempotency_statement = (
    select if(count(*) = 0, 'alter table idempotency_processed add column payload_digest bigint', 'do 0')
    from information_schema.columns
    where table_schema = database() and table_name = 'idempotency_processed' and column_name = 'payload_digest'
);

prepare idempotency_statement from @idempotency_statement;

execute idempotency_statement;

deallocate prepare idempotency_statement;
