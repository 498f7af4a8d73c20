package dev.idempotency.benchmarks.startup;

import java.lang.management.ManagementFactory;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Starts, prints the milliseconds since the start of its JVM, and exits. Its containers are created but not started. */
public final class FleetApplication {

    static final String MILLIS = "start-up-millis=";

    private FleetApplication() {}

    public static void main(String[] args) {
        ConfigurableApplicationContext context = application().run(args);
        long start = ManagementFactory.getRuntimeMXBean().getStartTime();
        System.out.println(MILLIS + (System.currentTimeMillis() - start));
        context.close();
    }

    static SpringApplicationBuilder application() {
        return new SpringApplicationBuilder(Fleet.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.main.log-startup-info=false",
                        "spring.kafka.listener.auto-startup=false");
    }

    /** Connects to the database and migrates its tables with Flyway, like a typical application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(FiftyListeners.class)
    static class Fleet {

        @Bean
        InitializingBean ownTables(DataSource dataSource) {
            return () -> Flyway.configure()
                    .dataSource(dataSource)
                    .locations("classpath:db/fleet")
                    // Other scenarios have tables in the same database.
                    .baselineOnMigrate(true)
                    .baselineVersion("0")
                    .load()
                    .migrate();
        }
    }
}
