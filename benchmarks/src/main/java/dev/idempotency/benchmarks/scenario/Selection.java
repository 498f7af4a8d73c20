package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.measured.MeasuredBatchListeners;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Which of the listeners are measured: those with one of these words in their id or name, and the raw ones that they are
 * compared with. No words, and all are.
 *
 * @param words in lower case
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

    /** Those that are included, and the one that all are compared with. */
    List<MeasuredListener> of(List<MeasuredListener> listeners, MeasuredListener baseline) {
        return listeners.stream()
                .filter(listener -> listener.equals(baseline) || includes(listener))
                .toList();
    }

    private static boolean matches(MeasuredListener listener, String word) {
        return (listener.id() + " " + listener.name()).toLowerCase(Locale.ROOT).contains(word);
    }
}
