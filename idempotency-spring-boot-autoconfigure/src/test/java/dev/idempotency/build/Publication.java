package dev.idempotency.build;

import java.util.SortedMap;
import java.util.SortedSet;

/**
 * What goes to Maven Central.
 *
 * @param attachments the classifiers of the jars beside the main one, by published module
 */
record Publication(
        SortedMap<String, SortedSet<String>> attachments,
        String description,
        String url,
        String licence,
        String licenceUrl,
        String developer,
        String scmConnection,
        String scmDeveloperConnection,
        String scmUrl) {}
