package dev.idempotency.app;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test with a separate topic, consumer group and PostgreSQL database. */
public abstract class ApplicationTest {

    /** Listeners name it {@code ${topic}}. */
    protected final String topic = TestKafka.createTopic("test", partitions());

    /** Listeners name it {@code ${group}}. */
    protected final String group = TestKafka.uniqueName("group");

    protected TestDatabase database;

    @BeforeEach
    void createDatabase() {
        this.database = TestPostgres.createDatabase();
    }

    @AfterEach
    void dropDatabase() {
        this.database.close();
    }

    protected int partitions() {
        return 1;
    }

    protected TestApplication start(Class<?>... classes) {
        return start(List.of(), classes);
    }

    protected TestApplication start(List<String> properties, Class<?>... classes) {
        List<String> all = new ArrayList<>(properties);
        all.add("topic=" + this.topic);
        all.add("group=" + this.group);
        return TestApplication.start(this.database, all, classes);
    }
}
