package dev.idempotency.failure;

/**
 * Errors after which nothing can be relied upon, such as {@code OutOfMemoryError}: they stop their container. All others,
 * stack overflows among them, concern the message that they were met with. Code of the application's may throw checked
 * exceptions, too, that are declared nowhere, as Kotlin does: who calls it catches whatever is thrown.
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
