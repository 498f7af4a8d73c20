alter table idempotency_processed add column if not exists payload_digest bigint;
