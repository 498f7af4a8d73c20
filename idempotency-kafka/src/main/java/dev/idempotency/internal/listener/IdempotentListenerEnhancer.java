package dev.idempotency.internal.listener;

import java.lang.reflect.AnnotatedElement;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.annotation.KafkaListenerAnnotationBeanPostProcessor.AnnotationEnhancer;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.StringUtils;

/**
 * Has the containers of protected listeners configured as Spring Kafka creates them. {@code @KafkaListener} names a
 * {@code containerPostProcessor}, which is called last: every listener is given one that leads here and knows the bean;
 * the user's own is called before it.
 */
public final class IdempotentListenerEnhancer implements AnnotationEnhancer, BeanNameAware {

    private static final String POST_PROCESSOR = "containerPostProcessor";

    private final ObjectProvider<ListenerContainerConfigurer> configurer;
    private final CopyOnWriteArrayList<AnnotatedElement> elements = new CopyOnWriteArrayList<>();
    private String beanName = "";

    public IdempotentListenerEnhancer(ObjectProvider<ListenerContainerConfigurer> configurer) {
        this.configurer = configurer;
    }

    @Override
    public void setBeanName(String name) {
        this.beanName = name;
    }

    @Override
    public Map<String, Object> apply(Map<String, Object> attributes, AnnotatedElement element) {
        this.elements.addIfAbsent(element);
        Map<String, Object> enhanced = new HashMap<>(attributes);
        String users = (String) attributes.get(POST_PROCESSOR);
        enhanced.put(
                POST_PROCESSOR,
                "#{@'%s'.postProcessor(%s, %d, %s)}"
                        .formatted(
                                this.beanName,
                                attributes.get("beanRef"),
                                this.elements.indexOf(element),
                                reference(users)));
        return enhanced;
    }

    /** The user's own post-processor as part of an expression: a bean's name, or an expression already. */
    private static String reference(@Nullable String users) {
        if (!StringUtils.hasText(users)) {
            return "null";
        }
        boolean expression = users.startsWith("#{") && users.endsWith("}");
        return expression ? users.substring(2, users.length() - 1) : "@'" + users + "'";
    }

    /** Called by the expression that {@link #apply} has made. */
    @Reflective
    public ContainerPostProcessor<?, ?, AbstractMessageListenerContainer<Object, Object>> postProcessor(
            Object bean,
            int element,
            @Nullable ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> users) {
        return (AbstractMessageListenerContainer<Object, Object> container) -> {
            if (users != null) {
                users.postProcess(container);
            }
            this.configurer.getObject().configure(bean, this.elements.get(element), container);
        };
    }
}
