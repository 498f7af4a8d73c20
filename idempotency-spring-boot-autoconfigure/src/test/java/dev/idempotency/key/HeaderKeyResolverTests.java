package dev.idempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderKeyResolverTests {

    private final HeaderKeyResolver resolver =
            new HeaderKeyResolver(List.of("idempotency-key", "message-id", "ce_id", "id"));
    private final ConsumerRecord<String, String> record = new ConsumerRecord<>("topic", 0, 0, "key", "value");

    private void header(String name, String value) {
        this.record.headers().add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theFirstHeaderOfTheListThatIsPresentCounts() {
        header("id", "last");
        header("message-id", "second");
        assertThat(this.resolver.resolveKey(this.record)).isEqualTo("second");
    }

    @ParameterizedTest
    @ValueSource(strings = {"  ", "\t", " \r\n", "\u00a0", "null", ""})
    void aBlankHeaderDoesNotCount(String blank) {
        header("idempotency-key", blank);
        header("id", "1");
        assertThat(this.resolver.resolveKey(this.record)).isEqualTo("1");
    }

    @Test
    void withoutAnyOfTheHeadersThereIsNoKey() {
        header("other", "1");
        this.record.headers().add("id", null);
        assertThat(this.resolver.resolveKey(this.record)).isNull();
    }

    @Test
    void aCloudEventIsIdentifiedByItsSourceAndItsId() {
        header("ce_id", "1");
        header("ce_source", "/shop/orders");
        assertThat(this.resolver.resolveKey(this.record)).isEqualTo("/shop/orders 1");
    }

    @Test
    void aCloudEventWithoutAnIdHasNoKeyThatAllOfItsSourceShare() {
        header("ce_id", "null");
        header("ce_source", "/shop/orders");
        assertThat(this.resolver.resolveKey(this.record)).isNull();
    }

    @Test
    void bytesThatAreNoTextBecomeHexadecimalAndStayDifferent() {
        byte[] number = ByteBuffer.allocate(Long.BYTES).putLong(65).array();
        this.record.headers().add("id", number);
        assertThat(this.resolver.resolveKey(this.record)).isEqualTo("hex:0000000000000041");
        this.record.headers().add("id", new byte[] {(byte) 0xff, (byte) 0xfe});
        assertThat(this.resolver.resolveKey(this.record)).isEqualTo("hex:fffe");
    }

    @Test
    void aTextThatLooksHexadecimalDoesNotMeetTheBytesItSpells() {
        header("id", "hex:fffe");
        assertThat(this.resolver.resolveKey(this.record)).startsWith("hex:").isNotEqualTo("hex:fffe");
    }
}
