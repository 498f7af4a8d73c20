package dev.idempotency.internal.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;

/** Does something before one of the statements that are executed, or before the commit. */
final class CountingConnection {

    private final Connection target;
    private String beginning = "";
    private Runnable action = () -> {};
    private int left = -1;
    private boolean fired;

    CountingConnection(Connection target) {
        this.target = target;
    }

    /** Counts from the statement that begins so. */
    void after(String beginning, int statements, Runnable action) {
        this.beginning = beginning;
        this.left = statements;
        this.action = action;
    }

    boolean fired() {
        return this.fired;
    }

    Connection proxy() {
        return proxy(Connection.class, this.target, null);
    }

    @SuppressWarnings("unchecked")
    private <T> T proxy(Class<T> type, Object real, String prepared) {
        return (T) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    String sql = (arguments != null && arguments.length > 0 && arguments[0] instanceof String text)
                            ? text
                            : prepared;
                    if (name.startsWith("execute") || name.equals("commit")) {
                        count(String.valueOf(sql));
                    }
                    Object result = invoke(method, real, arguments);
                    if (result instanceof PreparedStatement statement) {
                        return proxy(PreparedStatement.class, statement, sql);
                    }
                    return (result instanceof Statement statement) ? proxy(Statement.class, statement, null) : result;
                });
    }

    private void count(String sql) {
        if (this.left < 0 || !this.beginning.isEmpty() && !sql.startsWith(this.beginning)) {
            return;
        }
        this.beginning = "";
        if (this.left-- == 0) {
            this.fired = true;
            this.action.run();
        }
    }

    private static Object invoke(Method method, Object real, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException ex) {
            throw ex.getCause();
        }
    }
}
