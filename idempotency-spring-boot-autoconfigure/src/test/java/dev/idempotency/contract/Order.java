package dev.idempotency.contract;

import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/** A payload {@code id:command} or {@code id@version:command}; {@code -} means no id. Mutable, as payloads often are. */
public final class Order {

    static final int AMOUNT = 10;

    final String text;
    final String command;
    int amount = AMOUNT;
    private final String id;
    private final long version;

    Order(String text) {
        String[] parts = text.split(":");
        String[] entity = parts[0].split("@");
        this.text = text;
        this.command = parts[1];
        this.id = entity[0].equals("-") ? null : entity[0];
        this.version = (entity.length > 1) ? Long.parseLong(entity[1]) : 1;
    }

    public String getId() {
        return this.id;
    }

    public long getVersion() {
        return this.version;
    }

    @Override
    public String toString() {
        return this.text;
    }

    /** Fails for the command {@code unreadable}, and at first for {@code outage@read}, as if a schema registry were down. */
    public static final class Reader implements Deserializer<Order> {

        private int outages;

        @Override
        public Order deserialize(String topic, byte[] data) {
            Order order = new Order(new String(data, StandardCharsets.UTF_8));
            if (order.command.equals("unreadable")) {
                throw new SerializationException("not an order");
            }
            if (order.command.equals("outage@read") && this.outages++ < 2) {
                throw new SerializationException("no schema", new ConnectException("refused"));
            }
            return order;
        }
    }

    /** Writes orders, and the bytes of unreadable ones. */
    public static final class Writer implements Serializer<Object> {

        @Override
        public byte[] serialize(String topic, Object data) {
            return (data instanceof byte[] bytes) ? bytes : data.toString().getBytes(StandardCharsets.UTF_8);
        }
    }
}
