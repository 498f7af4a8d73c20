package dev.idempotency.chaos.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.RecordId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EachOnceTests {

    private final EachOnce messages =
            EachOnce.ofMessages(List.of(MessageKind.ORDINARY, MessageKind.FLAKY, MessageKind.POISON));

    @Test
    void eachAppliedOnceInWhateverOrderAndPoisonDeadLetteredIsClean() {
        Verdict verdict = check(List.of("1", "0"), Set.of("2"));

        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict.applied()).isEqualTo(2);
        assertThat(verdict.deadLettered()).isEqualTo(1);
    }

    @Test
    void whatIsNeitherAppliedNorDeadLetteredIsLost() {
        assertThat(check(List.of("0"), Set.of()).lost()).containsExactlyInAnyOrder("1", "2");
    }

    @Test
    void whatIsAppliedTwiceIsFound() {
        assertThat(check(List.of("0", "1", "0"), Set.of("2")).doubled()).containsExactly("0");
    }

    @Test
    void whatMayNotBeAppliedAtAllIsFound() {
        assertThat(check(List.of("0", "1", "2", "7"), Set.of("2")).doubled()).containsExactlyInAnyOrder("2", "7");
    }

    @Test
    void whatIsDeadLetteredWithoutNeedIsFound() {
        Verdict verdict = check(List.of("0", "1"), Set.of("1", "2"));

        assertThat(verdict.wronglyDeadLettered()).containsExactly("1");
        assertThat(verdict.deadLetteredAndApplied()).containsExactly("1");
        assertThat(verdict.isClean()).isFalse();
    }

    @Test
    void aMessageInTwoRecordsIsAppliedTwiceWhereRecordsCount() {
        String first = RecordId.of(0, 5);
        String copy = RecordId.of(3, 7);
        EachOnce records = new EachOnce(Map.of(first, MessageKind.ORDINARY, copy, MessageKind.ORDINARY));

        assertThat(records.check("offset", List.of(first, copy), Set.of()).isClean())
                .isTrue();
        assertThat(records.check("offset", List.of(first), Set.of()).lost()).containsExactly(copy);
        assertThat(records.check("offset", List.of(first, copy, copy), Set.of()).doubled())
                .containsExactly(copy);
    }

    private Verdict check(List<String> applied, Set<String> dead) {
        return this.messages.check("record", applied, dead);
    }
}
