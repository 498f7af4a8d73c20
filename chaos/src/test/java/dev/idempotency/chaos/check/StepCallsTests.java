package dev.idempotency.chaos.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.StepLine;
import dev.idempotency.chaos.StepLine.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StepCallsTests {

    private final List<StepLine> lines = new ArrayList<>();
    private Instant now = Instant.EPOCH;

    @Test
    void aCallThatWasNotRecordedMayBeRepeated() {
        write("a", Event.BEGUN, Event.CHARGED);
        write("b", Event.BEGUN, Event.CHARGED, Event.RECORDED, Event.MAILED);
        write("c", Event.BEGUN, Event.RECORDED);
        assertThat(check(List.of("0"), Set.of(), Set.of()).isClean()).isTrue();
        assertThat(new StepCalls(EachOnce.ofMessages(List.of()), this.lines, Set.of()).summary())
                .contains("`step` called 2 times for 1 messages: 1 calls were repeated");
    }

    @Test
    void whoeverBeganBeforeTheRecordMayHaveCalledAfterIt() {
        write("zombie", Event.BEGUN);
        write("b", Event.BEGUN, Event.CHARGED, Event.RECORDED, Event.MAILED);
        write("zombie", Event.CHARGED);
        assertThat(check(List.of("0"), Set.of(), Set.of()).isClean()).isTrue();
    }

    @Test
    void aCallThatWasRecordedBeforeIsFound() {
        write("a", Event.BEGUN, Event.CHARGED, Event.RECORDED);
        write("b", Event.BEGUN, Event.CHARGED);
        assertThat(check(List.of("0"), Set.of(), Set.of()).doubled()).containsExactly("charge of 0");
    }

    @Test
    void aSecondCallOfWhatMustNotBeRepeatedIsFound() {
        write("a", Event.BEGUN, Event.CHARGED, Event.RECORDED, Event.MAILED);
        write("b", Event.BEGUN, Event.RECORDED, Event.MAILED);
        assertThat(check(List.of("0"), Set.of(), Set.of()).doubled()).containsExactly("mail of 0");
    }

    @Test
    void aDeadLetterNeedsAnUnknownOutcome() {
        assertThat(check(List.of(), Set.of("0"), Set.of()).wronglyDeadLettered())
                .containsExactly("0");
        assertThat(check(List.of(), Set.of("0"), Set.of("0")).isClean()).isTrue();
    }

    private void write(String attempt, Event... events) {
        for (Event event : events) {
            this.now = this.now.plusMillis(1);
            this.lines.add(StepLine.parse(new StepLine(this.now, "0", attempt, event).toString()));
        }
    }

    private Verdict check(List<String> applied, Set<String> dead, Set<String> unknown) {
        return new StepCalls(EachOnce.ofMessages(List.of(MessageKind.ORDINARY)), this.lines, unknown)
                .check("steps", applied, dead);
    }
}
