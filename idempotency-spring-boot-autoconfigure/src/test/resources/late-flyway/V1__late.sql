create table late_table (id integer);
