package dev.idempotency.internal.kafka;

import static dev.idempotency.app.Thrown.assertThrown;

import org.junit.jupiter.api.Test;

class SpringKafkaInternalsTests {

    @Test
    void aVersionThatLacksAMemberIsRefusedWithThatMember() {
        assertThrown(
                IllegalStateException.class,
                () -> SpringKafkaInternals.read(String.class, "missing", ""),
                "does not work with Spring Kafka",
                "has no field 'missing' in java.lang.String");
    }
}
