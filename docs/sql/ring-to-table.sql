-- Moves the rows of a ring back into one table. Stop all instances first; run it as the owner of the tables.
begin;
lock table idempotency_ring, idempotency_processed in access exclusive mode;
alter table idempotency_ring disable trigger idempotency_ring_step;
delete from idempotency_ring;
alter table idempotency_ring enable trigger idempotency_ring_step;
insert into idempotency_processed
select moved.* from idempotency_processed moved where moved.tableoid <> 'idempotency_processed'::regclass
on conflict do nothing;
truncate idempotency_processed_0, idempotency_processed_1, idempotency_processed_2, idempotency_processed_3,
    idempotency_processed_4, idempotency_processed_5, idempotency_processed_6, idempotency_processed_7;
commit;
