dependencies {
    "implementation"(project(":idempotency-spring-boot-starter"))
    "implementation"(project(":test-support"))
    "implementation"(libs.spring.integration.core)
    "implementation"(libs.spring.integration.jdbc)
    "implementation"(libs.camel.core)
    "implementation"(libs.camel.sql)
    "implementation"(libs.eventuate.tram.consumer.jdbc)
    "implementation"(libs.eventuate.common.spring.jdbc)
    "implementation"(libs.jackson.databind)
    "implementation"(libs.jmh.core)

    "annotationProcessor"(libs.jmh.generator.annprocess)

    "testImplementation"(libs.spring.boot.starter.test)
}

// Spring Boot manages a later Spring Integration than the one that is measured.
configurations.configureEach {
    resolutionStrategy.eachDependency {
        if (requested.group == "org.springframework.integration") {
            useVersion(libs.versions.spring.integration.get())
        }
    }
}

tasks.register<JavaExec>("benchmark") {
    description = "Measures the cost of @IdempotentListener: ./gradlew :benchmarks:benchmark --args=\"--quick\""
    mainClass.set("dev.idempotency.benchmarks.Benchmarks")
    classpath = the<SourceSetContainer>()["main"].runtimeClasspath
    jvmArgs("-Xms1g", "-Xmx1g")
}
