package dev.idempotency.internal.failure;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;

/** Fails for values that begin with "garbled". */
public class PickyDeserializer implements Deserializer<String> {

    @Override
    public String deserialize(String topic, byte[] data) {
        String text = (data != null) ? new String(data, StandardCharsets.UTF_8) : null;
        if (text != null && text.startsWith("garbled")) {
            throw new SerializationException("cannot read this");
        }
        return text;
    }
}
