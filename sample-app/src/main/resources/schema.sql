-- The real payments: each one once, however often it is sent.
create table if not exists payment (
    id      varchar(36)    primary key,
    account varchar(50)    not null,
    amount  numeric(12, 2) not null
);

create table if not exists account (
    name    varchar(50)    primary key,
    balance numeric(12, 2) not null
);

create table if not exists unprotected_account (
    name    varchar(50)    primary key,
    balance numeric(12, 2) not null
);

create table if not exists points (
    account varchar(50) primary key,
    points  bigint      not null
);

create table if not exists turnover (
    one_row  boolean        primary key check (one_row),
    payments bigint         not null,
    amount   numeric(12, 2) not null
);

create table if not exists receipt (
    number  bigint         generated always as identity primary key,
    account varchar(50)    not null,
    amount  numeric(12, 2) not null
);

-- Notifications of receipts, written by the second hop.
create table if not exists notification (
    number  bigint         generated always as identity primary key,
    account varchar(50)    not null,
    amount  numeric(12, 2) not null
);

-- Payments by HTTP.
create table if not exists booking (
    number  bigint         generated always as identity primary key,
    account varchar(50)    not null,
    amount  numeric(12, 2) not null
);

insert into account (name, balance)
values ('Alice', 0), ('Bob', 0), ('Carol', 0), ('Dave', 0)
on conflict do nothing;

insert into unprotected_account (name, balance) select name, 0 from account
on conflict do nothing;

insert into points (account, points) select name, 0 from account
on conflict do nothing;

insert into turnover (one_row, payments, amount) values (true, 0, 0)
on conflict do nothing;
