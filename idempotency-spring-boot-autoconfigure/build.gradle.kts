dependencies {
    "api"(project(":idempotency-core"))
    "api"(libs.spring.boot.autoconfigure)
    "api"(libs.spring.boot.jdbc)
    "api"(libs.spring.boot.transaction)

    "optional"(project(":idempotency-kafka"))
    "optional"(project(":idempotency-operators"))
    "optional"(libs.spring.boot.kafka)
    "optional"(libs.flyway.core)
    "optional"(libs.flyway.postgresql)
    "optional"(libs.flyway.mysql)
    "optional"(libs.hikaricp)
    "optional"(libs.postgresql)
    "optional"(libs.micrometer.core)
    "optional"(libs.spring.boot.micrometer.metrics)
    "optional"(libs.spring.boot.actuator.autoconfigure)
    "optional"(libs.spring.boot.health)
    "optional"(libs.jakarta.persistence)
    "optional"(libs.json.path)
    "optional"(libs.jackson.databind)
    "optional"(libs.spring.web)

    "annotationProcessor"(libs.spring.boot.configuration.processor)
    "annotationProcessor"(libs.spring.boot.autoconfigure.processor)

    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(libs.spring.boot.starter.flyway)
    "testImplementation"(libs.spring.boot.starter.liquibase)
    "testImplementation"(libs.spring.boot.starter.data.jdbc)
    "testImplementation"(libs.spring.boot.starter.data.jpa)
    "testImplementation"(libs.spring.boot.starter.webmvc)
    "testImplementation"(libs.spring.boot.starter.actuator)
    "testImplementation"(libs.spring.security.config)
    "testImplementation"(libs.spring.security.web)
    "testImplementation"(libs.micrometer.registry.prometheus)
    "testImplementation"(libs.spring.kafka.test)
    "testImplementation"(libs.awaitility)
    "testImplementation"(libs.archunit)
    "testImplementation"(libs.jqwik.engine)
    "testImplementation"(project(":test-support"))
    "testImplementation"(libs.h2)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.autoconfigure") } }

// Spring Boot's configuration processor reads the additional metadata from the processed resources.
tasks.named("compileJava") {
    inputs.files(tasks.named("processResources")).withPathSensitivity(PathSensitivity.RELATIVE)
}
