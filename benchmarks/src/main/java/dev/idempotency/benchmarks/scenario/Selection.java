package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.measured.MeasuredBatchListeners;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Selects the listeners to measure: those with one of these words in their id or name, and the raw ones for comparison.
 * Without words, all are measured.
 *
 * @param words the words, in lower case
 */
public record Selection(List<String> words) {

    public static final Selection ALL = new Selection(List.of());

    public Selection {
        List<MeasuredListener> known = Stream.of(
                        MeasuredRecordListeners.all(),
                        MeasuredBatchListeners.comparisons().keySet(),
                        MeasuredBatchListeners.comparisons().values().stream()
                                .flatMap(List::stream)
                                .toList())
                .<MeasuredListener>flatMap(Collection::stream)
                .toList();
        for (String word : words) {
            if (word.isBlank() || known.stream().noneMatch(listener -> matches(listener, word))) {
                throw new IllegalArgumentException("No listener is called '%s'; there are %s"
                        .formatted(
                                word, known.stream().map(MeasuredListener::id).toList()));
            }
        }
    }

    boolean includes(MeasuredListener listener) {
        return this.words.isEmpty() || this.words.stream().anyMatch(word -> matches(listener, word));
    }

    /** Returns the selected listeners, and the one with which all are compared. */
    List<MeasuredListener> of(List<MeasuredListener> listeners, MeasuredListener baseline) {
        return listeners.stream()
                .filter(listener -> listener.equals(baseline) || includes(listener))
                .toList();
    }

    private static boolean matches(MeasuredListener listener, String word) {
        return (listener.id() + " " + listener.name()).toLowerCase(Locale.ROOT).contains(word);
    }
}
