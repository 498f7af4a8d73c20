package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.BrokenCommits;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.BatchListenerFailedException;

class FaultyRecordInBatchIT extends OneBatchTest {

    @Test
    void aKeyWhoseExpressionThrowsConcernsItsRecordAlone() {
        try (TestApplication app = startWith(List.of(), NumbersAreKeys.class, "1:1", "2:2", "3:x", "4:4")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("1", "2", "4");
            assertThat(deadLetters()).containsExactly("x");
        }
    }

    @Test
    void whenThoseBeforeTheNamedRecordFailToCommitTheOneThatMakesThemFailIsFound() {
        try (TestApplication app = startWith(List.of(), BreaksCommits.class, "1:a", "2:breaks", "3:fails", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "d");
            assertThat(deadLetters()).containsExactly("breaks", "fails");
        }
    }

    @Import({Effects.class, BrokenCommits.class})
    static class BreaksCommits {

        private final Effects effects;
        private final BrokenCommits commits;

        BreaksCommits(Effects effects, BrokenCommits commits) {
            this.effects = effects;
            this.commits = commits;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                this.effects.happen(payloads.get(i));
                if (payloads.get(i).equals("breaks")) {
                    this.commits.breakCommit();
                }
                if (payloads.get(i).equals("fails")) {
                    throw new BatchListenerFailedException("fails", i);
                }
            }
        }
    }

    @Import(Effects.class)
    static class NumbersAreKeys {

        private final Effects effects;

        NumbersAreKeys(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "T(java.lang.Integer).parseInt(#payload)")
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }
}
