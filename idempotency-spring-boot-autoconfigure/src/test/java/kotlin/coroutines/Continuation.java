package kotlin.coroutines;

/** Stands for Kotlin's own, which the compiler adds to suspend functions as their last parameter. */
public interface Continuation<T> {}
