package kotlin.coroutines;

/** A stub of Kotlin's interface, which the compiler adds to suspend functions as their last parameter. */
public interface Continuation<T> {}
