plugins { alias(libs.plugins.spring.boot) }

dependencies {
    "implementation"(platform(libs.embedded.postgres.binaries.bom))
    "implementation"(project(":idempotency-spring-boot-starter"))
    "implementation"(libs.spring.modulith.starter.jdbc)
    "implementation"(libs.spring.modulith.events.kafka)
    "runtimeOnly"(libs.postgresql)
    "implementation"(libs.embedded.postgres)
    "runtimeOnly"(libs.embedded.postgres.linux.arm64)
    "runtimeOnly"(libs.embedded.postgres.darwin.arm64)
    "implementation"(libs.spring.kafka.test)
    "implementation"(libs.spring.boot.starter.webmvc)
    "implementation"(libs.spring.boot.starter.actuator)
    "runtimeOnly"(libs.micrometer.registry.prometheus)

    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(project(":idempotency-spring-boot-test"))
    "testImplementation"(libs.selenium.chrome.driver)
}
