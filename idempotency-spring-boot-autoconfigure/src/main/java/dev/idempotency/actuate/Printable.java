package dev.idempotency.actuate;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Text from outside as it may stand in the log: with line breaks it could write lines of its own. */
final class Printable {

    private Printable() {}

    static String text(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    static String nameOf(@Nullable Principal principal) {
        return (principal != null) ? text(principal.getName()) : "somebody unknown";
    }
}
