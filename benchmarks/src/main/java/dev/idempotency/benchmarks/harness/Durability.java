package dev.idempotency.benchmarks.harness;

/** Whether a commit waits for the disk. */
public enum Durability {

    /** {@code fsync} and {@code synchronous_commit} on, as in production. */
    DURABLE("on", "fsync and synchronous_commit on"),

    /** Both off: no disk to hide behind, so that the work itself is seen. */
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

    /** The setting by which people know it. */
    public String brief() {
        return "`fsync` " + this.setting;
    }

    @Override
    public String toString() {
        return this.description;
    }
}
