package dev.idempotency.definition;

import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.transaction.interceptor.BeanFactoryTransactionAttributeSourceAdvisor;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/** Looks at what transactional beans throw, repositories among them: one of them may mark a listener's transaction. */
public final class TransactionalBeanPostProcessor implements BeanPostProcessor, Ordered {

    private static final MethodInterceptor TELLS = invocation -> {
        try {
            return invocation.proceed();
        } catch (Throwable ex) {
            RollbackCause.thrown(ex);
            throw ex;
        }
    };

    /** After those that make proxies. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof Advised advised && !advised.isFrozen()) {
            for (Advisor advisor : advised.getAdvisors()) {
                if (advisor instanceof PointcutAdvisor transactional && isTransactional(transactional)) {
                    advised.addAdvisor(0, new DefaultPointcutAdvisor(transactional.getPointcut(), TELLS));
                    break;
                }
            }
        }
        return bean;
    }

    private static boolean isTransactional(PointcutAdvisor advisor) {
        return advisor instanceof BeanFactoryTransactionAttributeSourceAdvisor
                || (advisor instanceof DefaultPointcutAdvisor && advisor.getAdvice() instanceof TransactionInterceptor);
    }
}
