package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Check;
import dev.idempotency.FailedChecksException;
import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.UniqueConstraint;
import jakarta.persistence.Version;
import java.util.List;
import org.hibernate.annotations.UuidGenerator;
import org.junit.jupiter.api.Test;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Import;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.domain.Persistable;
import org.springframework.kafka.annotation.KafkaListener;

/** Which entities a repository merges, so that no constraint is violated. */
class MergedEntityCheckIT {

    private static final List<String> PROPERTIES = List.of("spring.jpa.hibernate.ddl-auto=create");

    @Test
    void onlyEntitiesThatARepositoryMergesAreFound() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            Throwable failure =
                    catchThrowable(() -> TestApplication.start(database, PROPERTIES, Merged.class, Inserted.class)
                            .close());
            FailedChecksException failed = (FailedChecksException) NestedExceptionUtils.getMostSpecificCause(failure);
            assertThat(failed.findings())
                    .allSatisfy(finding -> assertThat(finding.check()).isEqualTo(Check.MERGED_ENTITY))
                    .extracting(finding ->
                            finding.what().substring(0, finding.what().indexOf(',')))
                    .containsExactlyInAnyOrder(
                            "The table 'assigned_row' is mapped to " + AssignedRow.class.getName(),
                            "The table 'renamed' is mapped to " + Renamed.class.getName(),
                            "The table 'primitive_version' is mapped to " + PrimitiveVersion.class.getName());
        }
    }

    @Entity(name = "AssignedRow")
    static class AssignedRow {

        @Id
        String id;
    }

    @Entity
    @Table(name = "renamed")
    static class Renamed {

        @Id
        String id;
    }

    @Entity(name = "PrimitiveVersion")
    static class PrimitiveVersion {

        @Id
        String id;

        @Version
        long version;
    }

    @Entity(name = "Versioned")
    static class Versioned {

        @Id
        String id;

        @Version
        Long version;
    }

    @Entity(name = "Numbered")
    @Table(uniqueConstraints = @UniqueConstraint(name = "numbered_reference", columnNames = "reference"))
    static class Numbered {

        @Id
        @GeneratedValue
        Long id;

        @Column(nullable = false)
        String reference;
    }

    @Entity(name = "Random")
    static class Random {

        @Id
        @UuidGenerator
        String id;
    }

    @Entity(name = "New")
    static class New implements Persistable<String> {

        @Id
        String id;

        @Override
        public String getId() {
            return this.id;
        }

        @Override
        public boolean isNew() {
            return true;
        }
    }

    static class Merged {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "assigned_row_pkey")
        void assigned(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "renamed_pkey")
        void renamed(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "primitive_version_pkey")
        void primitive(String payload) {}
    }

    @EntityScan(basePackageClasses = MergedEntityCheckIT.class)
    @Import(TestApplication.WithJpa.class)
    static class Inserted {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "versioned_pkey")
        void versioned(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "numbered_reference")
        void generated(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "random_pkey")
        void random(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "new_pkey")
        void isNew(String payload) {}
    }
}
