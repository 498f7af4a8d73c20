package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class PoisonRecordDetectorTests {

    private static final int THRESHOLD = 3;

    private static final Exception CUT = new SQLException("cut", "08006");

    private final AtomicBoolean storeAnswers = new AtomicBoolean(true);
    private final PoisonRecordDetector poisonRecords =
            new PoisonRecordDetector("consumer", THRESHOLD, this.storeAnswers::get);
    private final ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 0, 5, null, null);

    private boolean isPoisonAfter(int failures, Exception failure) {
        boolean poison = false;
        for (int i = 0; i < failures; i++) {
            poison = this.poisonRecords.recordFailure(failure, this.record);
        }
        return poison;
    }

    @Test
    void aRecordThatFailsAgainAndAgainWhileTheStoreAnswersIsToBlame() {
        assertThat(isPoisonAfter(THRESHOLD, CUT)).isFalse();
        assertThat(isPoisonAfter(1, CUT)).isTrue();
    }

    @Test
    void aDatabaseThatComesAndGoesIsNotTheRecordsFault() {
        for (int i = 0; i < 10; i++) {
            assertThat(isPoisonAfter(THRESHOLD, CUT)).isFalse();
            assertThat(isPoisonAfter(1, new SQLTransientConnectionException("no connection")))
                    .isFalse();
            assertThat(isPoisonAfter(THRESHOLD, CUT)).isFalse();
            this.storeAnswers.set(false);
            assertThat(isPoisonAfter(1, CUT)).isFalse();
            this.storeAnswers.set(true);
        }
    }

    @Test
    void aServerThatGoesDownOrWhoseDiskIsFullIsNotTheRecordsFault() {
        for (String state : new String[] {"57P01", "57P02", "53100", "58030"}) {
            assertThat(isPoisonAfter(5 * THRESHOLD, new SQLException("server", state)))
                    .as(state)
                    .isFalse();
        }
        assertThat(isPoisonAfter(5 * THRESHOLD, new SQLException("table full", "HY000", 1114)))
                .isFalse();
    }
}
