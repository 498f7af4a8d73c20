package dev.idempotency.sample.mishap;

import org.springframework.aop.Advisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/** Advises the listeners with mishaps. */
@Configuration(proxyBeanMethods = false)
class MishapConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor failedAttempts(ObjectProvider<Mishaps> mishaps) {
        return MishapAdvisor.insideTheTransaction(Mishap.FAILED_ATTEMPT, mishaps);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor killedConsumers(ObjectProvider<Mishaps> mishaps) {
        return MishapAdvisor.afterTheCommit(Mishap.KILLED_CONSUMER, mishaps);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor bugs(ObjectProvider<Mishaps> mishaps) {
        return MishapAdvisor.insideTheTransaction(Mishap.BUG, mishaps);
    }
}
