package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.StoreFailedException;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureTranslatingStoreTests {

    private static FailureTranslatingStore failingWith(Throwable failure) {
        return new FailureTranslatingStore((ProcessedMessageStore) Proxy.newProxyInstance(
                FailureTranslatingStoreTests.class.getClassLoader(),
                new Class<?>[] {ProcessedMessageStore.class},
                (proxy, method, arguments) -> {
                    throw failure;
                }));
    }

    @Test
    void whateverAStoreFailsWithIsTheStoresFailure() {
        for (Throwable failure :
                List.of(new IllegalStateException("by the store"), new NoClassDefFoundError("by the store"))) {
            assertThatThrownBy(() -> failingWith(failure).watchTransaction())
                    .isInstanceOf(StoreFailedException.class)
                    .hasCause(failure);
        }
    }

    @Test
    void anErrorThatNothingCanBeReliedUponAfterIsNot() {
        Error failure = new OutOfMemoryError("for the test");
        assertThatThrownBy(() -> failingWith(failure).watchTransaction()).isSameAs(failure);
    }
}
