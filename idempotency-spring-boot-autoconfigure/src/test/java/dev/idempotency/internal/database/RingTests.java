package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Ring.Layout;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingTests {

    @ParameterizedTest
    @CsvSource({
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f, 2022-02-22T19:22:22Z",
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F, 2022-02-22T19:22:22Z",
        "00000000-0000-7000-8000-000000000000, 1970-01-01T00:00:00Z",
        "03ffffff-ffff-7fff-bfff-ffffffffffff, 2109-05-15T07:35:11.103Z",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV, 2016-07-30T23:54:10.259Z",
        "01arz3ndektsv4rrffq69g5fav, 2016-07-30T23:54:10.259Z",
        "03ZZZZZZZZ0000000000000000, 2109-05-15T07:35:11.103Z"
    })
    void uuidsOfVersion7AndUlidsCarryTheirTime(String id, Instant time) {
        assertThat(Ring.millisOf(id)).isEqualTo(time.toEpochMilli());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
                "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
                "047f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                "017f22e279b07cc398c4dc0c0c07398f",
                "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f/CONFIRMED",
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n",
                "01ARZ3NDEKTSV4RRFFQ69G5FAU",
                "01ARZ3NDEKTSV4RRFFQ69G5FAV1",
                "12345678901234567890123456",
                "0٣ARZ3NDEKTSV4RRFFQ69G5FAV",
                "order-4711",
                "0",
                ""
            })
    void anythingElseCarriesNone(String id) {
        assertThat(Ring.millisOf(id)).isEqualTo(-1);
    }

    @Test
    void slotsFollowEachOtherAndComeRound() {
        Layout layout = new Layout(8, 1_000, Ring.COMPLETE);
        long second = Instant.parse("2026-11-18T00:00:00Z").toEpochMilli();
        int first = layout.slotAt(second);
        for (int i = 0; i < 20; i++) {
            assertThat(layout.slotAt(second + i * 1_000L)).isEqualTo((first + i) % 8);
            assertThat(layout.slotAt(second + i * 1_000L + 999)).isEqualTo((first + i) % 8);
        }
        assertThat(slotOf(layout, UUID.randomUUID().toString())).isEqualTo(8);
    }

    private static int slotOf(Layout layout, String id) {
        return layout.slotOf(new MessageId("consumer", id));
    }
}
