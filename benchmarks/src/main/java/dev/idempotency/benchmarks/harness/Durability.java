package dev.idempotency.benchmarks.harness;

/** Whether a commit waits for the disk. */
public enum Durability {

    /** {@code fsync} and {@code synchronous_commit} on, as in production. */
    DURABLE("on", "fsync and synchronous_commit on"),

    /** Both off: the disk does not hide the cost of the work. */
    RELAXED("off", "fsync and synchronous_commit off");

    private final String setting;
    private final String description;

    Durability(String setting, String description) {
        this.setting = setting;
        this.description = description;
    }

    String setting() {
        return this.setting;
    }

    /** Returns the better known of the two settings. */
    public String brief() {
        return "`fsync` " + this.setting;
    }

    @Override
    public String toString() {
        return this.description;
    }
}
