package dev.idempotency.internal.key;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.internal.database.EntityVersion;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

class VersionResolverTests {

    private static final Instant TIME = Instant.parse("2026-11-17T09:30:00.123456789Z");

    private static EntityVersion resolve(String expression, @Nullable Object payload) {
        ExpressionKeySource source =
                new ExpressionKeySource("version", expression, List.of(), new DefaultListableBeanFactory(), record -> {
                    throw new AssertionError();
                });
        ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 1, 5, null, payload);
        return new VersionResolver("billing", source).resolve(new TestMessage(record, payload));
    }

    static Stream<Arguments> versions() {
        return Stream.of(
                Arguments.of(42, "42"),
                Arguments.of((short) 42, "42"),
                Arguments.of((byte) -1, "-1"),
                Arguments.of(Long.MIN_VALUE, "-9223372036854775808"),
                Arguments.of(new BigInteger("9".repeat(29)), "9".repeat(29)),
                Arguments.of("0042", "42"),
                Arguments.of(Optional.of(7), "7"),
                Arguments.of(TIME, "2026-11-17T09:30:00.123456789Z"),
                Arguments.of(TIME.atOffset(ZoneOffset.ofHours(5)), "2026-11-17T09:30:00.123456789Z"),
                Arguments.of(TIME.atZone(ZoneId.of("Europe/Berlin")), "2026-11-17T09:30:00.123456789Z"),
                Arguments.of(Timestamp.from(TIME), "2026-11-17T09:30:00.123456789Z"),
                Arguments.of(new Date(-1), "1969-12-31T23:59:59.999Z"),
                Arguments.of("2026-11-17T10:30:00+01:00", "2026-11-17T09:30:00Z"));
    }

    @ParameterizedTest
    @MethodSource("versions")
    void wholeNumbersAndPointsInTimeAreVersions(Object given, String text) {
        assertThat(resolve("#payload", given)).hasToString(text);
    }

    static Stream<Object> otherTypes() {
        return Stream.of(
                1.0,
                1.0f,
                new BigDecimal("1"),
                "one",
                "1.5",
                "2026-11-17T09:30:00",
                "2026-11-17",
                "9".repeat(30),
                "9".repeat(100_000),
                LocalDateTime.of(2026, 11, 17, 9, 30),
                OffsetDateTime.now().toLocalDate(),
                new java.sql.Date(0),
                new java.sql.Time(0),
                BigInteger.TEN.pow(29),
                true,
                new byte[] {1},
                List.of(1),
                new Object());
    }

    @ParameterizedTest
    @MethodSource("otherTypes")
    void whatDoesNotCompareExactlyIsRefused(Object given) {
        assertThatExceptionOfType(InvalidMessageKeyException.class)
                .isThrownBy(() -> resolve("#payload", given))
                .withMessageStartingWith(
                        "The version of the message topic-1@5 for consumer 'billing', from expression '#payload', cannot be used");
    }

    static Stream<Arguments> absent() {
        return Stream.of(Optional.empty(), "", " ", "null", null).map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("absent")
    void aMessageWithoutAVersionIsRefused(@Nullable Object given) {
        assertThatExceptionOfType(InvalidMessageKeyException.class)
                .isThrownBy(() -> resolve("#payload", given))
                .withMessageContaining("topic-1@5")
                .withMessageContaining("'billing'")
                .withMessageContaining("@IdempotentListener(version = …)")
                .matches(InvalidMessageKeyException::isMissing);
    }

    @Test
    void aVersionMayBeCalculated() {
        assertThat(resolve("#payload.length() * 1000L + 7", "four")).isEqualTo(EntityVersion.of(4007));
    }

    @Test
    void aNumberAndATimeDoNotCompare() {
        assertThrown(IllegalArgumentException.class, () -> EntityVersion.of(1).compareTo(EntityVersion.of(TIME)));
        assertThat(EntityVersion.of(TIME)).isLessThan(EntityVersion.of(TIME.plusNanos(1)));
    }
}
