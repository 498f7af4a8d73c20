package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.database.UniqueConstraint;
import dev.idempotency.internal.definition.ProtectedListener;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.MapsId;
import jakarta.persistence.Table;
import jakarta.persistence.metamodel.EntityType;
import jakarta.persistence.metamodel.SingularAttribute;
import java.lang.reflect.AnnotatedElement;
import java.util.Locale;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Checks whether the table of a listener's constraint is mapped to a JPA entity that Spring Data's {@code save} merges: with an
 * assigned id, no version that can be null, and not {@code Persistable}.
 */
record MergedEntityCheck(ListableBeanFactory beanFactory) {

    private static final String PERSISTABLE = "org.springframework.data.domain.Persistable";

    /** On Hibernate's own annotations for generated ids. */
    private static final String ID_GENERATOR_TYPE = "org.hibernate.annotations.IdGeneratorType";

    void check(ProtectedListener listener, Report report) {
        UniqueConstraint constraint = listener.constraint();
        if (constraint == null) {
            return;
        }
        this.beanFactory.getBeanProvider(EntityManagerFactory.class).stream()
                .flatMap(factory -> factory.getMetamodel().getEntities().stream())
                .filter(entity -> isMappedTo(constraint.table(), entity) && isMerged(entity))
                .forEach(entity -> report.add(
                        StartupCheck.MERGED_ENTITY,
                        "The table '%s' is mapped to %s, whose id is assigned."
                                .formatted(
                                        constraint.table(), entity.getJavaType().getName()),
                        "Let the entity implement Persistable, with isNew() returning true for a new one, or give it a"
                                + " @Version of a wrapper type. Relax this check if the listener calls"
                                + " EntityManager.persist, or inserts without JPA."));
    }

    /** Naming strategies add underscores and change the case. */
    private static boolean isMappedTo(String table, EntityType<?> entity) {
        Table annotation = entity.getJavaType().getAnnotation(Table.class);
        String name = (annotation != null && !annotation.name().isEmpty()) ? annotation.name() : entity.getName();
        return plain(name).equals(plain(table));
    }

    private static String plain(String name) {
        return name.replaceAll("[_`\"]", "").toLowerCase(Locale.ROOT);
    }

    private static boolean isMerged(EntityType<?> entity) {
        boolean persistable = ClassUtils.getAllInterfacesForClassAsSet(entity.getJavaType()).stream()
                .anyMatch(type -> type.getName().equals(PERSISTABLE));
        return !persistable
                && entity.getSingularAttributes().stream()
                        .noneMatch(attribute -> isGenerated(attribute) || isNullableVersion(attribute));
    }

    private static boolean isGenerated(SingularAttribute<?, ?> attribute) {
        return attribute.getJavaMember() instanceof AnnotatedElement member
                && (member.isAnnotationPresent(MapsId.class)
                        || (attribute.isId()
                                && (member.isAnnotationPresent(GeneratedValue.class)
                                        || AnnotatedElementUtils.hasMetaAnnotationTypes(member, ID_GENERATOR_TYPE))));
    }

    private static boolean isNullableVersion(SingularAttribute<?, ?> attribute) {
        return attribute.isVersion() && !attribute.getJavaType().isPrimitive();
    }
}
