package dev.idempotency.sample;

import java.util.List;
import java.util.Objects;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.WebDriver;

/** The page as seen by a user. Each text is read by a single script, as the page keeps rebuilding its tables. */
final class PageUnderTest {

    private static final String VISIBLE_TEXTS = """
            return [...document.querySelectorAll(arguments[0])]
                .filter(found => found.checkVisibility())
                .map(found => found.innerText.trim().replace(/\\s+/g, ' '))
            """;

    private final WebDriver browser;

    PageUnderTest(WebDriver browser) {
        this.browser = browser;
    }

    void push(String button) {
        this.browser.findElement(By.id(button)).click();
    }

    String notice() {
        return text("#notice");
    }

    /** Returns an amount in a table, as text. */
    String amount(String row, String column) {
        return text("[data-row='%s'] [data-column='%s'] .value".formatted(row, column));
    }

    /** Returns the page's verdict on an amount. */
    String verdict(String row, String column) {
        return text("[data-row='%s'] [data-column='%s'] .verdict".formatted(row, column));
    }

    /** Returns a counter of a consumer; -1 if the page does not show one yet. */
    long count(String consumer, String column) {
        String text = cell(consumer, column);
        return text.isEmpty() ? -1 : Long.parseLong(text.replace(",", ""));
    }

    /** Returns the text of a table cell. */
    String cell(String row, String column) {
        return text("[data-row='%s'] [data-column='%s']".formatted(row, column));
    }

    boolean showsProgress() {
        return !texts("#backlog progress").isEmpty();
    }

    /** Returns the deliveries on the page, newest first. */
    List<String> deliveries() {
        return texts("#deliveries li");
    }

    /** Returns the chart's description for screen readers. */
    String chart() {
        return String.valueOf(this.browser.findElement(By.id("chart")).getAttribute("aria-label"));
    }

    long bars(String kind) {
        return (Long)
                script("return document.querySelectorAll('#chart rect.%s:not([height=\"0\"])').length".formatted(kind));
    }

    long contentWidth() {
        return (Long) script("return document.documentElement.scrollWidth");
    }

    long contentHeight() {
        return (Long) script("return document.documentElement.scrollHeight");
    }

    /** Returns the vertical position of an element. */
    double top(String id) {
        return ((Number) script("return document.getElementById('%s').getBoundingClientRect().top".formatted(id)))
                .doubleValue();
    }

    String background() {
        return (String) script("return getComputedStyle(document.body).backgroundColor");
    }

    String focused() {
        return (String) script("return document.activeElement.id");
    }

    @SuppressWarnings("unchecked") // The script returns this type.
    List<String> requestedUrls() {
        return (List<String>) script("return performance.getEntriesByType('resource').map(entry => entry.name)");
    }

    private String text(String selector) {
        return texts(selector).stream().findFirst().orElse("");
    }

    @SuppressWarnings("unchecked") // The script returns this type.
    private List<String> texts(String selector) {
        return (List<String>) script(VISIBLE_TEXTS, selector);
    }

    private Object script(String script, Object... arguments) {
        return Objects.requireNonNull(((JavascriptExecutor) this.browser).executeScript(script, arguments));
    }
}
