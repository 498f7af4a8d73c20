package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.database.TableLocation;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Whether a DataSource that routes, by tenant for instance, leads to one table of claims, wherever it leads. */
final class RoutingDataSourceCheck implements ListenerCheck {

    private static final Logger logger = LoggerFactory.getLogger(RoutingDataSourceCheck.class);

    /** Each opens a connection, perhaps the first one of a pool. */
    private static final int TARGETS_ASKED = 10;

    private final ListableBeanFactory beanFactory;
    private boolean checked;

    RoutingDataSourceCheck(ListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** What is found is the store's, not the listener's: the first listener stands for all. */
    @Override
    public void check(ProtectedListener listener, Report report) {
        ProcessedMessageStore store =
                this.beanFactory.getBeanProvider(ProcessedMessageStore.class).getIfUnique();
        if (this.checked || !(store instanceof JdbcProcessedMessageStore jdbc)) {
            return;
        }
        this.checked = true;
        Set<TableLocation> locations = targetsOf(jdbc.dataSource())
                .limit(TARGETS_ASKED)
                .map(target -> locationIn(target, jdbc))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (locations.size() > 1) {
            report.add(
                    Check.ROUTING_DATA_SOURCE,
                    "The store's DataSource routes to several places for its tables: %s.".formatted(locations),
                    "Keep the tables in one schema that all connections share, in one database, and name it in"
                            + " idempotency.schema.name; or let the store have a DataSource of its own, that is @Primary."
                            + " If all but one are read-only replicas, relax this check.");
        }
    }

    private static Stream<DataSource> targetsOf(DataSource dataSource) {
        try {
            if (dataSource.isWrapperFor(AbstractRoutingDataSource.class)) {
                AbstractRoutingDataSource routing = dataSource.unwrap(AbstractRoutingDataSource.class);
                Collection<DataSource> targets =
                        routing.getResolvedDataSources().values();
                return Stream.concat(Stream.ofNullable(routing.getResolvedDefaultDataSource()), targets.stream())
                        .distinct();
            }
        } catch (SQLException | RuntimeException ex) {
            logger.debug("Could not find out where {} leads", dataSource, ex);
        }
        return Stream.empty();
    }

    /** Nothing of one that cannot be asked today: what it leads to shows when a message of it comes. */
    private static @Nullable TableLocation locationIn(DataSource target, JdbcProcessedMessageStore store) {
        try {
            return TableLocation.in(target, store.database());
        } catch (DataAccessException ex) {
            logger.warn("A DataSource that claims may be routed to cannot be asked for its tables", ex);
            return null;
        }
    }
}
