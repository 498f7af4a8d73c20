package dev.idempotency.app;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** The effects of listeners: one row per call, so that a repeated effect shows. A bean of every {@link TestApplication}. */
@Lazy
@Component
public class Effects {

    private final JdbcTemplate jdbc;

    public Effects(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        jdbc.execute("create table if not exists effect (name varchar(1000) not null)");
    }

    public void happen(String name) {
        this.jdbc.update("insert into effect (name) values (?)", name);
    }

    /** Keeps the database busy for this long. */
    public void pause(Duration duration) {
        this.jdbc.query("select pg_sleep(?)", rows -> {}, duration.toMillis() / 1000.0);
    }

    /** The names of all effects, sorted, with repetitions. */
    public List<String> all() {
        return this.jdbc.queryForList("select name from effect order by name", String.class);
    }

    /** How often each effect happened. */
    public Map<String, Integer> counts() {
        Map<String, Integer> counts = new TreeMap<>();
        all().forEach(name -> counts.merge(name, 1, Integer::sum));
        return counts;
    }
}
