dependencies {
    constraints {
        "api"(project(":idempotency-core"))
        "api"(project(":idempotency-kafka"))
        "api"(project(":idempotency-operators"))
        "api"(project(":idempotency-spring-boot-autoconfigure"))
        "api"(project(":idempotency-spring-boot-starter"))
        "api"(project(":idempotency-spring-boot-test"))
    }
}
