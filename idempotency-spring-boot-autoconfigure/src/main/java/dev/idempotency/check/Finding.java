package dev.idempotency.check;

/**
 * Something that keeps a listener from being protected, or endangers its messages.
 *
 * @param check what it was found by
 * @param where class, method and bean
 * @param what what was found
 * @param remedy how to mend it
 */
public record Finding(Check check, String where, String what, String remedy) {

    /** What and where, in the form that reports use. */
    public String description() {
        return "[%s] %s%n     %s%n     %s".formatted(this.check, this.where, this.what, this.check.danger());
    }

    @Override
    public String toString() {
        return "[%s] %s: %s %s %s".formatted(this.check, this.where, this.what, this.check.danger(), this.remedy);
    }
}
