package dev.idempotency.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.test.context.TestPropertySource;

/**
 * Makes each protected container of the tested application redeliver every record and every batch once, after its commit.
 * Equivalent to {@code idempotency.test.deliver-twice=true}. Listeners without protection are not affected.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@TestPropertySource(properties = "idempotency.test.deliver-twice=true")
public @interface DeliverTwice {}
