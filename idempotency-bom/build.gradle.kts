dependencies {
    constraints {
        "api"(project(":idempotency-spring-boot-autoconfigure"))
        "api"(project(":idempotency-spring-boot-starter"))
        "api"(project(":idempotency-spring-boot-test"))
    }
}
