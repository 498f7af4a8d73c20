package dev.idempotency.app;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Lets transactions do all they want, and fail when they are committed. */
@Component
public class BrokenCommits {

    private final JdbcTemplate jdbc;

    public BrokenCommits(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        jdbc.execute("create table once (id integer unique deferrable initially deferred)");
        jdbc.update("insert into once (id) values (1)");
    }

    /** Breaks the commit of the current transaction. */
    public void breakCommit() {
        this.jdbc.update("insert into once (id) values (1)");
    }
}
