package dev.idempotency.database;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A constraint or an index, as the catalog of a database lists it.
 *
 * @param schema its table's schema
 * @param table its table
 * @param name its own name
 * @param index the name of the index behind it, where the database has another one for that
 * @param visible whether its table is found without naming the schema
 * @param fault why it cannot tell duplicates, such as "is a check constraint"; {@code null} if it can
 */
record FoundConstraint(
        String schema,
        String table,
        String name,
        @Nullable String index,
        boolean visible,
        @Nullable String fault) {

    private static final int NEARBY = 5;

    /** All that a query lists, whose columns are those of this record, in order. */
    static List<FoundConstraint> list(String query, JdbcTemplate jdbc) {
        return jdbc.query(query, (row, number) -> of(row));
    }

    private static FoundConstraint of(ResultSet row) throws SQLException {
        return new FoundConstraint(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getBoolean(5),
                row.getString(6));
    }

    /**
     * The one that is meant.
     *
     * @throws IllegalArgumentException if there is none, several are meant, or it cannot tell duplicates
     */
    static FoundConstraint choose(ConstraintName meant, List<FoundConstraint> all) {
        List<FoundConstraint> found =
                all.stream().filter(each -> each.isMeant(meant)).toList();
        List<FoundConstraint> usable =
                found.stream().filter(each -> each.fault == null).toList();
        if (usable.size() == 1) {
            return usable.get(0);
        }
        if (usable.size() > 1) {
            throw new IllegalArgumentException(
                    ("'%s' may mean %s. Name the table, as in \"payment.payment_pkey\", or the schema as well; put names"
                                    + " that differ in their case in double quotes")
                            .formatted(meant, names(usable)));
        }
        if (!found.isEmpty()) {
            throw new IllegalArgumentException("%s %s".formatted(found.get(0), found.get(0).fault));
        }
        List<FoundConstraint> nearby = nearby(meant, all);
        throw new IllegalArgumentException(
                "There is no unique constraint and no unique index '%s' in the database of the listener; %s"
                        .formatted(
                                meant,
                                nearby.isEmpty()
                                        ? "there is none at all"
                                        : "there are, for instance, " + names(nearby)));
    }

    private boolean isMeant(ConstraintName meant) {
        return meant.name().means(this.name)
                && (meant.table() == null || meant.table().means(this.table))
                && ((meant.schema() == null) ? this.visible : meant.schema().means(this.schema));
    }

    private static String names(List<FoundConstraint> constraints) {
        return constraints.stream()
                .limit(NEARBY)
                .map(FoundConstraint::toString)
                .toList()
                .toString();
    }

    /** Those of the same name elsewhere, then those of the same table, then those whose names begin alike. */
    private static List<FoundConstraint> nearby(ConstraintName meant, List<FoundConstraint> all) {
        return all.stream()
                .filter(each -> each.fault == null)
                .sorted(Comparator.comparingInt(each -> -each.likeness(meant)))
                .limit(NEARBY)
                .toList();
    }

    private int likeness(ConstraintName meant) {
        String wanted = meant.name().text().toLowerCase(Locale.ROOT);
        String mine = this.name.toLowerCase(Locale.ROOT);
        if (wanted.equals(mine)) {
            return Integer.MAX_VALUE;
        }
        int alike = 0;
        while (alike < Math.min(wanted.length(), mine.length()) && wanted.charAt(alike) == mine.charAt(alike)) {
            alike++;
        }
        return (meant.table() != null && meant.table().means(this.table)) ? 1000 + alike : alike;
    }

    @Override
    public String toString() {
        return this.schema + "." + this.table + "." + this.name;
    }
}
