package dev.idempotency.failure;

import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Cannot read what begins with "garbled". */
public class PickyDeserializer extends StringDeserializer {

    @Override
    public String deserialize(String topic, byte[] data) {
        String text = super.deserialize(topic, data);
        if (text != null && text.startsWith("garbled")) {
            throw new SerializationException("cannot read this");
        }
        return text;
    }
}
