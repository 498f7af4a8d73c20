package dev.idempotency.internal.check;

import dev.idempotency.FailedChecksException;
import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Finding;
import dev.idempotency.StartupCheck.Level;
import dev.idempotency.StartupCheck.Mode;
import dev.idempotency.internal.definition.ListenerFault;
import dev.idempotency.internal.definition.ProtectedListener;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ClassUtils;

/** Collects findings, to report them together: the same one of several listeners is one finding with several places. */
final class Findings {

    private static final Logger logger = LoggerFactory.getLogger(Findings.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final Policy policy;
    private final Map<ListenerFault, Set<String>> places = new LinkedHashMap<>();

    /** Decides how findings are reported: by the mode, and one level lower for relaxed checks. */
    record Policy(Mode mode, Set<StartupCheck> relaxed) {

        Policy {
            relaxed = Set.copyOf(relaxed);
            for (StartupCheck check : relaxed) {
                if (check.isIndispensable()) {
                    throw new IllegalArgumentException(
                            "idempotency.checks.relaxed names '%s', which cannot be relaxed: %s"
                                    .formatted(check, check.danger()));
                }
            }
        }

        boolean isOff() {
            return this.mode == Mode.OFF;
        }

        @Nullable
        Level levelOf(StartupCheck check) {
            if (check.isIndispensable()) {
                return Level.FAIL;
            }
            if (isOff()) {
                return null;
            }
            if (this.relaxed.contains(check)) {
                return (check.level() == Level.FAIL) ? Level.WARN : null;
            }
            return (this.mode == Mode.WARN && check.level() == Level.FAIL) ? Level.WARN : check.level();
        }
    }

    @FunctionalInterface
    interface Report {

        void add(StartupCheck check, String what, String remedy);
    }

    Findings(ConfigurableListableBeanFactory beanFactory, Policy policy) {
        this.beanFactory = beanFactory;
        this.policy = policy;
    }

    void add(StartupCheck check, ProtectedListener listener, String what, String remedy) {
        Class<?> type = ClassUtils.getUserClass(listener.targetClass());
        add(check, type, listener.method(), beanName(listener.bean(), type), what, remedy);
    }

    void add(
            StartupCheck check,
            Class<?> type,
            @Nullable Method method,
            @Nullable String beanName,
            String what,
            String remedy) {
        StringBuilder where = new StringBuilder(type.getName());
        if (method != null) {
            where.append('.')
                    .append(method.getName())
                    .append(Arrays.stream(method.getParameterTypes())
                            .map(Class::getSimpleName)
                            .collect(Collectors.joining(", ", "(", ")")));
        }
        if (beanName != null) {
            where.append(", bean '").append(beanName).append('\'');
        }
        this.places
                .computeIfAbsent(new ListenerFault(check, what, remedy), found -> new LinkedHashSet<>())
                .add(where.toString());
    }

    /** A duration as it is written in settings, such as {@code 7d}. */
    static String format(Duration duration) {
        return DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE);
    }

    private @Nullable String beanName(Object bean, Class<?> type) {
        String[] names = this.beanFactory.getBeanNamesForType(type, true, false);
        for (String name : names) {
            if (this.beanFactory.containsSingleton(name) && this.beanFactory.getSingleton(name) == bean) {
                return name;
            }
        }
        return (names.length == 1) ? names[0] : null;
    }

    /** Logs warnings, and throws a {@link FailedChecksException} for what must not start. */
    void report() {
        List<Finding> failures = new ArrayList<>();
        this.places.forEach((found, where) -> {
            Finding finding = new Finding(found.check(), String.join("; ", where), found.what(), found.remedy());
            Level level = this.policy.levelOf(found.check());
            if (level == Level.FAIL) {
                failures.add(finding);
            } else if (level == Level.WARN) {
                logger.warn("{}", finding);
            }
        });
        if (!failures.isEmpty()) {
            throw new FailedChecksException(failures);
        }
    }
}
