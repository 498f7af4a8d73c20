pluginManagement { repositories { gradlePluginPortal(); mavenCentral() } }
dependencyResolutionManagement { repositories { mavenCentral() } }

rootProject.name = "idempotency-spring-boot"

include("idempotency-bom", "idempotency-core", "idempotency-kafka", "idempotency-operators")
include("idempotency-spring-boot-autoconfigure", "idempotency-spring-boot-starter", "idempotency-spring-boot-test")
include("sample-app", "benchmarks", "chaos")

include("test-support", "kotlin-tests")
project(":test-support").projectDir = file("tests/test-support")
project(":kotlin-tests").projectDir = file("tests/kotlin-tests")
