package dev.idempotency.chaos.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.chaos.Entities;
import dev.idempotency.chaos.MessageKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Uses three versions of each entity; tests vary those of the first entity. */
class NewestWinsTests {

    private static final int ENTITIES = IntStream.iterate(1, i -> i + 1)
            .filter(i -> Entities.of(i) == Entities.of(0))
            .findFirst()
            .getAsInt();

    private static final String OLD = "0";
    private static final String NEWER = String.valueOf(ENTITIES);
    private static final String NEWEST = String.valueOf(2 * ENTITIES);

    private final List<MessageKind> messages = new ArrayList<>(Collections.nCopies(3 * ENTITIES, MessageKind.ORDINARY));

    @Test
    void allInOrderIsClean() {
        assertThat(check(List.of(OLD, NEWER, NEWEST), Set.of()).isClean()).isTrue();
    }

    @Test
    void whatIsOldMayBeMissing() {
        assertThat(check(List.of(NEWEST), Set.of()).isClean()).isTrue();
    }

    @Test
    void theNewestMayNotBeMissing() {
        assertThat(check(List.of(OLD, NEWER), Set.of()).lost()).containsExactly(NEWEST);
    }

    @Test
    void anOldOneAfterANewerOneIsFound() {
        Verdict verdict = check(List.of(NEWER, OLD, NEWEST), Set.of());

        assertThat(verdict.outOfOrder()).containsExactly(OLD);
        assertThat(verdict.isClean()).isFalse();
    }

    @Test
    void aVersionThatIsAppliedTwiceIsFound() {
        assertThat(check(List.of(NEWER, NEWER, NEWEST), Set.of()).doubled()).containsExactly(NEWER);
    }

    @Test
    void whereTheNewestAlwaysFailsTheOneBeforeHasToBeApplied() {
        this.messages.set(2 * ENTITIES, MessageKind.POISON);

        assertThat(check(List.of(NEWER), Set.of(NEWEST)).isClean()).isTrue();
        assertThat(check(List.of(OLD), Set.of(NEWEST)).lost()).containsExactly(NEWER);
        assertThat(check(List.of(NEWER), Set.of()).lost()).containsExactly(NEWEST);
    }

    @Test
    void anOldOneThatAlwaysFailsMayHaveBeenTooOldToFail() {
        this.messages.set(0, MessageKind.POISON);

        assertThat(check(List.of(NEWER, NEWEST), Set.of()).isClean()).isTrue();
        assertThat(check(List.of(NEWER, NEWEST), Set.of(OLD)).isClean()).isTrue();
        assertThat(check(List.of(OLD, NEWER, NEWEST), Set.of()).doubled()).containsExactly(OLD);
    }

    /** Checks with these versions of the first entity, while all other entities are correct. */
    private Verdict check(List<String> applied, Set<String> dead) {
        List<String> all = new ArrayList<>(applied);
        IntStream.range(2 * ENTITIES + 1, 3 * ENTITIES)
                .mapToObj(String::valueOf)
                .forEach(all::add);
        return new NewestWins(this.messages).check("version", all, dead);
    }
}
