package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class MessagePathTests {

    private static final Set<String> CONSUMERS = Set.of("a", "a/b", "ab");

    @Test
    void theLongestNameOfAConsumerIsTakenForTheConsumer() {
        assertThat(read("a", "b", "c")).isEqualTo(new MessagePath("a/b", "c"));
        assertThat(read("a", "b")).isEqualTo(new MessagePath("a/b", null));
        assertThat(read("a", "c")).isEqualTo(new MessagePath("a", "c"));
        assertThat(read("ab", "c")).isEqualTo(new MessagePath("ab", "c"));
    }

    @Test
    void anIdGivenApartLeavesNoDoubt() {
        assertThat(MessagePath.of(new String[] {"a"}, "b/c", CONSUMERS)).isEqualTo(new MessagePath("a", "b/c"));
    }

    @Test
    void aPathThatMayMeanMessagesOfTwoConsumersIsAmbiguous() {
        assertThat(MessagePath.isAmbiguous(new String[] {"a", "b", "c"}, CONSUMERS))
                .isTrue();
        assertThat(MessagePath.isAmbiguous(new String[] {"a", "b"}, CONSUMERS)).isTrue();
        assertThat(MessagePath.isAmbiguous(new String[] {"a", "c"}, CONSUMERS)).isFalse();
        assertThat(MessagePath.isAmbiguous(new String[] {"ab", "c"}, CONSUMERS)).isFalse();
    }

    private static MessagePath read(String... segments) {
        return MessagePath.of(segments, null, CONSUMERS);
    }
}
