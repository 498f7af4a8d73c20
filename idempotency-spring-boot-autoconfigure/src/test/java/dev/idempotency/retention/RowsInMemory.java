package dev.idempotency.retention;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A task whose backlog is a number, and that fails when told to. */
final class RowsInMemory implements CleanupTask {

    private final String name;
    private final List<AtomicInteger> backlogs;
    private final List<String> protocol;
    private @Nullable RuntimeException failure;

    RowsInMemory(String name, List<String> protocol, int... backlogs) {
        this.name = name;
        this.protocol = protocol;
        this.backlogs = Arrays.stream(backlogs).mapToObj(AtomicInteger::new).toList();
    }

    void failWith(@Nullable RuntimeException ex) {
        this.failure = ex;
    }

    List<Integer> remaining() {
        return this.backlogs.stream().map(AtomicInteger::get).toList();
    }

    void refill(int rows) {
        this.backlogs.forEach(backlog -> backlog.set(rows));
    }

    @Override
    public String name() {
        return this.name;
    }

    @Override
    public List<Backlog> backlogs() {
        return this.backlogs.stream()
                .<Backlog>map(rows -> limit -> remove(rows, limit))
                .toList();
    }

    private int remove(AtomicInteger rows, int limit) {
        this.protocol.add(this.name + "-" + this.backlogs.indexOf(rows));
        if (this.failure != null) {
            throw this.failure;
        }
        int removed = Math.min(rows.get(), limit);
        rows.addAndGet(-removed);
        return removed;
    }
}
