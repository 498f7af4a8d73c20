create table fleet (
    payload text not null
);
