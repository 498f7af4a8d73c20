package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
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
import org.junit.jupiter.api.Test;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Import;
import org.springframework.data.domain.Persistable;
import org.springframework.kafka.annotation.KafkaListener;

/** Which entities a repository merges, so that no constraint is violated. */
class MergedEntityCheckIT {

    @Test
    void onlyEntitiesThatARepositoryMergesAreFound() {
        List<String> properties = List.of("spring.jpa.hibernate.ddl-auto=create");
        try (TestDatabase database = TestPostgres.createDatabase()) {
            Throwable failure = catchThrowable(() ->
                    TestApplication.start(database, properties, Listeners.class).close());
            assertThat(ListenerChecksIT.failure(failure).findings())
                    .allSatisfy(finding -> assertThat(finding.check()).isEqualTo(StartupCheck.MERGED_ENTITY))
                    .extracting(finding -> finding.what().replaceFirst(", whose.*", ""))
                    .containsExactlyInAnyOrder(
                            "The table 'assigned_row' is mapped to " + AssignedRow.class.getName(),
                            "The table 'renamed' is mapped to " + PrimitiveVersion.class.getName());
        }
    }

    @Entity(name = "AssignedRow")
    static class AssignedRow {

        @Id
        String id;
    }

    @Entity
    @Table(name = "renamed")
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

    @EntityScan(basePackageClasses = MergedEntityCheckIT.class)
    @Import(TestApplication.WithJpa.class)
    static class Listeners {

        @KafkaListener(topics = "t", groupId = "g1")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "assigned_row_pkey")
        void assigned(String payload) {}

        @KafkaListener(topics = "t", groupId = "g2")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "renamed_pkey")
        void primitive(String payload) {}

        @KafkaListener(topics = "t", groupId = "g3")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "versioned_pkey")
        void versioned(String payload) {}

        @KafkaListener(topics = "t", groupId = "g4")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "numbered_reference")
        void generated(String payload) {}

        @KafkaListener(topics = "t", groupId = "g5")
        @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "new_pkey")
        void isNew(String payload) {}
    }
}
