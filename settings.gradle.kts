pluginManagement { repositories { gradlePluginPortal(); mavenCentral() } }
dependencyResolutionManagement { repositories { mavenCentral() } }

rootProject.name = "idempotency-spring-boot"

include("test-support", "idempotency-spring-boot-autoconfigure", "idempotency-spring-boot-starter", "sample-app", "benchmarks", "chaos")
