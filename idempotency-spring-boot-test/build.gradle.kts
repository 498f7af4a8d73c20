dependencies {
    "api"(project(":idempotency-spring-boot-autoconfigure"))
    "api"(project(":idempotency-kafka"))
    "api"(libs.spring.test)
    "api"(libs.assertj.core)

    "optional"(libs.junit.jupiter.api)

    "annotationProcessor"(libs.spring.boot.configuration.processor)
    "annotationProcessor"(libs.spring.boot.autoconfigure.processor)

    "testImplementation"(project(":idempotency-spring-boot-starter"))
    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(project(":test-support"))
    "testImplementation"(libs.jackson.databind)
    "testImplementation"(libs.awaitility)
    "testImplementation"(libs.postgresql)
    "testImplementation"(libs.flyway.mysql)
    "testImplementation"(libs.h2)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.test") } }

// Spring Boot's configuration processor reads the additional metadata from the processed resources.
tasks.named("compileJava") {
    inputs.files(tasks.named("processResources")).withPathSensitivity(PathSensitivity.RELATIVE)
}
