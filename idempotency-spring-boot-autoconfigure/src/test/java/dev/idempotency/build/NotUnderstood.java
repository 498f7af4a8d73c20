package dev.idempotency.build;

/** A build says something that the comparison cannot read, and so cannot compare. */
final class NotUnderstood extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotUnderstood(String where, String what) {
        super(where + ": \"" + what
                + "\" is not understood by BuildsAgreeTests; teach its reader, or write it plainly");
    }
}
