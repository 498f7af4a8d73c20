package dev.idempotency.failure;

/**
 * Errors after which nothing can be relied upon, such as {@code OutOfMemoryError}: they stop their container. All others,
 * such as stack overflows, are the message's failure. Callers of the application's code catch any {@code Throwable}: Kotlin
 * throws checked exceptions without declaring them.
 */
public final class FatalErrors {

    private FatalErrors() {}

    public static boolean contains(Throwable failure) {
        return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError);
    }

    /** Throws the failure if it is one of them. */
    public static void rethrow(Throwable failure) {
        if (failure instanceof VirtualMachineError fatal && contains(failure)) {
            throw fatal;
        }
    }
}
