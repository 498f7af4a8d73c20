package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Checks that a routing DataSource, as of tenants, has one schema for the tables. */
final class RoutingDataSourceCheck implements ListenerCheck {

    private final ListableBeanFactory beanFactory;
    private boolean checked;

    RoutingDataSourceCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** Reports once, with the first listener: the finding is about the store. */
    @Override
    public void check(ProtectedListener listener, Report report) {
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (this.checked || !(store instanceof JdbcProcessedMessageStore jdbc)) {
            return;
        }
        this.checked = true;
        if (jdbc.database().schema() == null && isRouting(jdbc.dataSource())) {
            report.add(
                    Check.ROUTING_DATA_SOURCE,
                    "The store's DataSource is an AbstractRoutingDataSource.",
                    "Keep the tables in one schema that all its connections share, in one database, and name it in"
                            + " idempotency.schema.name; or let the store have a DataSource of its own, that is @Primary."
                            + " If all but one are read-only replicas, relax this check.");
        }
    }

    private static boolean isRouting(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
        } catch (SQLException | RuntimeException ex) {
            // A lazy one that cannot be connected today.
            return false;
        }
    }
}
