package dev.idempotency.architecture.wrong.key;

/** Breaks the rule that a name says what a class is. */
final class KeyUtils {

    private KeyUtils() {}
}
