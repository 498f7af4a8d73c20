dependencies {
    "api"(project(":idempotency-spring-boot-autoconfigure"))
    "api"(libs.spring.test)
    "api"(libs.assertj.core)

    "annotationProcessor"(libs.spring.boot.configuration.processor)
    "annotationProcessor"(libs.spring.boot.autoconfigure.processor)

    "testImplementation"(project(":idempotency-spring-boot-starter"))
    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(project(":test-support"))
    "testImplementation"(libs.jackson.databind)
    "testImplementation"(libs.awaitility)
    "testImplementation"(libs.postgresql)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.test") } }
