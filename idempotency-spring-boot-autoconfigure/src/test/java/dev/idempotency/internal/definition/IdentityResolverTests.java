package dev.idempotency.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.IdempotentListener;
import dev.idempotency.internal.kafka.TopicIdTracker;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

class IdentityResolverTests {

    /** Uses a method of the JDK, which is compiled without {@code -parameters}. */
    @Test
    void theCompilersFlagIsNamedWhereNamesOfArgumentsAreMissing() {
        Method method = ClassUtils.getMethod(Consumer.class, "accept", Object.class);
        IdempotentListener annotation =
                AnnotationUtils.synthesizeAnnotation(Map.of("key", "#payment.id"), IdempotentListener.class, null);
        IdentityResolver resolver = new IdentityResolver(new DefaultListableBeanFactory(), record -> null);

        ListenerFault.Found thrown = catchThrowableOfType(
                ListenerFault.Found.class,
                () -> resolver.keysOf(
                        new ListenerCandidate(annotation, this, method, method, null),
                        annotation.key(),
                        new ListenerMethod(method, false, null),
                        new TopicIdTracker(null, null)));

        assertThat(thrown.fault.what()).contains("names the variable #payment");
        assertThat(thrown.fault.remedy()).contains("-parameters", "#payload");
    }
}
