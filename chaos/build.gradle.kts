dependencies {
    "implementation"(project(":idempotency-spring-boot-starter"))
    "implementation"(project(":test-support"))
    "implementation"(libs.micrometer.core)
    "implementation"(libs.jackson.databind)

    "testImplementation"(libs.spring.boot.starter.test)
}

tasks.register<JavaExec>("chaos") {
    description = "Shows what the promises are worth: ./gradlew :chaos:chaos --args=\"--seed=7\""
    mainClass.set("dev.idempotency.chaos.Chaos")
    classpath = the<SourceSetContainer>()["main"].runtimeClasspath
    jvmArgs("-Xmx2g")
}
