package dev.idempotency.listener;

import dev.idempotency.observe.ConsumerDescription;
import java.lang.reflect.Method;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * A listener method that is protected, behind one of its containers.
 *
 * @param consumer what is known of it
 * @param bean the listener's bean, as the container calls it: a proxy
 * @param method the method of the user's class
 * @param container the container
 * @param transactionManager who opens its transactions
 * @param transactionAttribute their attributes
 */
public record ProtectedListener(
        ConsumerDescription consumer,
        Object bean,
        Method method,
        AbstractMessageListenerContainer<?, ?> container,
        PlatformTransactionManager transactionManager,
        TransactionAttribute transactionAttribute) {}
