dependencies {
    "api"(libs.jspecify)
    "api"(libs.slf4j.api)
    "api"(libs.spring.context)
    "api"(libs.spring.jdbc)

    "optional"(libs.flyway.core)
    "optional"(libs.postgresql)
    "optional"(libs.jackson.databind)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.core") } }
