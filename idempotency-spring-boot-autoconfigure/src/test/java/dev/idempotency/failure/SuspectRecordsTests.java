package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class SuspectRecordsTests {

    private static final int PATIENCE = 3;

    private static final Exception CUT = new SQLException("cut", "08006");

    private final AtomicBoolean storeAnswers = new AtomicBoolean(true);
    private final SuspectRecords suspects = new SuspectRecords("consumer", PATIENCE, this.storeAnswers::get);
    private final ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 0, 5, null, null);

    private boolean isToBlameAfter(int failures, Exception failure) {
        boolean blamed = false;
        for (int i = 0; i < failures; i++) {
            blamed = this.suspects.recordFailure(failure, this.record);
        }
        return blamed;
    }

    @Test
    void aRecordThatFailsAgainAndAgainWhileTheStoreAnswersIsToBlame() {
        assertThat(isToBlameAfter(PATIENCE, CUT)).isFalse();
        assertThat(isToBlameAfter(1, CUT)).isTrue();
    }

    @Test
    void aDatabaseThatComesAndGoesIsNotTheRecordsFault() {
        for (int i = 0; i < 10; i++) {
            assertThat(isToBlameAfter(PATIENCE, CUT)).isFalse();
            assertThat(isToBlameAfter(1, new SQLTransientConnectionException("no connection")))
                    .isFalse();
            assertThat(isToBlameAfter(PATIENCE, CUT)).isFalse();
            this.storeAnswers.set(false);
            assertThat(isToBlameAfter(1, CUT)).isFalse();
            this.storeAnswers.set(true);
        }
    }

    @Test
    void aServerThatGoesDownOrWhoseDiskIsFullIsNotTheRecordsFault() {
        for (String state : new String[] {"57P01", "57P02", "53100", "58030"}) {
            assertThat(isToBlameAfter(5 * PATIENCE, new SQLException("server", state)))
                    .as(state)
                    .isFalse();
        }
        assertThat(isToBlameAfter(5 * PATIENCE, new SQLException("table full", "HY000", 1114)))
                .isFalse();
    }
}
