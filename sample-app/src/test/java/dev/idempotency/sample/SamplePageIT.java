package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.interactions.Actions;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Pushes every button of the page in a real browser, and checks the effect in the database and on the page.
 *
 * <p>The tests share one ledger, so each checks the changes since its start.
 */
@SampleTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf(value = "dev.idempotency.sample.Browser#isInstalled", disabledReason = Browser.MISSING)
class SamplePageIT {

    /** Set to {@code true} to update the README's screenshot. */
    private static final String SCREENSHOT_PROPERTY = "sample.screenshot";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Path SCREENSHOT = Path.of("../docs/images/sample.png");

    private final JdbcClient jdbc;
    private final String url;
    private ChromeDriver browser;
    private PageUnderTest page;
    private Books before;

    SamplePageIT(@Autowired JdbcClient jdbc, @LocalServerPort int port) {
        this.jdbc = jdbc;
        this.url = "http://localhost:" + port + "/";
    }

    @BeforeAll
    void startBrowser() {
        this.browser = Browser.start();
        this.page = new PageUnderTest(this.browser);
    }

    @AfterAll
    void quitBrowser() {
        if (this.browser != null) {
            this.browser.quit();
        }
    }

    @BeforeEach
    void openPage() {
        Browser.resize(this.browser, Browser.DESKTOP);
        Browser.prefer(this.browser, "light");
        this.browser.get(this.url);
        awaitThat("the page shows the database", () -> Books.read(this.jdbc).areShownOn(this.page));
        this.before = Books.read(this.jdbc);
    }

    @Test
    void aPaymentIsAddedOnceByEveryone() {
        this.page.push("send");

        awaitPaymentAddedWithoutTheAnnotation(1);
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("ledger processed"));
        awaitThat("the notice", () -> this.page.notice().startsWith("Send a payment: done."));
    }

    @Test
    void aPaymentSentFiveTimesIsAddedOnceWithTheAnnotationAndFiveTimesWithout() {
        long hits = this.page.count("ledger", "republications");

        this.page.push("send-five-times");

        Books after = awaitPaymentAddedWithoutTheAnnotation(5);
        assertThat(this.page.verdict("Total", "with")).isEqualTo("right");
        assertThat(this.page.verdict("Total", "without"))
                .isEqualTo(Books.money(after.without().subtract(after.paidIn())) + " too much");
        awaitThat("four republications", () -> this.page.count("ledger", "republications") == hits + 4);
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("a republication, processed"));
        assertThat(this.page.chart()).contains("republications in the last two minutes");
        assertThat(this.page.bars("republication")).isPositive();
    }

    @Test
    void aThousandRecordsOfEightHundredPaymentsAreReadWithProgressAndAddedOnce() {
        long hits = this.page.count("ledger", "republications");

        this.page.push("burst");

        awaitThat("the page shows progress", this.page::showsProgress);
        Books after = awaitSettled(800, () -> !this.page.showsProgress());
        assertThat(after.without()).isGreaterThan(after.paidIn());
        awaitThat("two hundred republications", () -> this.page.count("ledger", "republications") == hits + 200);
    }

    @Test
    void aReplayOfTheTopicChangesNothingWithTheAnnotationAndAddsEverythingAgainWithout() {
        this.page.push("send");
        Books sent = awaitPaymentAddedWithoutTheAnnotation(1);
        long hits = this.page.count("ledger", "redeliveries");
        long inTopic = paymentsInTopic("count(*)", Long.class);

        this.page.push("replay");

        // More if other tests have redriven dead letters: the copies count like their originals.
        awaitThat("a redelivery of every payment", () -> this.page.count("ledger", "redeliveries") >= hits + inTopic);
        BigDecimal twice = sent.without().add(paymentsInTopic("sum(amount)", BigDecimal.class));
        awaitSettled(1, () -> Books.read(this.jdbc).without().compareTo(twice) >= 0);
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("a redelivery, processed"));
        assertThat(this.page.bars("redelivery")).isPositive();
    }

    @Test
    void anAttemptThatFailsAfterItsWorkIsUndoneWithTheAnnotationAndLeavesItsWorkBehindWithout() {
        List<Long> failures = counts("failed");

        this.page.push("fail");

        awaitPaymentAddedWithoutTheAnnotation(2);
        awaitThat("one failure of each consumer", () -> counts("failed").equals(oneMore(failures)));
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("ledger failed rolled back"));
    }

    @Test
    void aConsumerThatIsKilledBeforeItsOffsetCommitIsGivenThePaymentAgain() {
        List<Long> redeliveries = counts("redeliveries");

        this.page.push("kill");

        awaitPaymentAddedWithoutTheAnnotation(2);
        awaitThat(
                "one redelivery to each consumer", () -> counts("redeliveries").equals(oneMore(redeliveries)));
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("a redelivery, processed"));
    }

    @Test
    void aRequestSentTwiceIsBookedOnceAndAnsweredTheSameTwice() {
        long booked = bookings();

        this.page.push("request-twice");

        awaitThat("the notice", () -> this.page.notice().startsWith("Send the request twice: booked once."));
        assertThat(bookings()).isEqualTo(booked + 1);
        awaitThat("its duplicate", () -> this.page.deliveries().stream()
                .anyMatch(line -> line.contains("bookings duplicate")));
        assertThat(this.page.deliveries()).noneMatch(line -> line.contains("--0@0"));
    }

    @Test
    void whatIsGivenUpIsSeenByOperatorsAndRedrivenOnceTheBugIsMendedAndThenNothingIsMissing() {
        this.page.push("give-up");
        awaitThat(
                "four dead letters",
                () -> Stream.of("ledger", "turnover", "receipts", "points")
                                .allMatch(consumer -> this.page.count("operated-" + consumer, "pending") == 1)
                        && this.page.count("operated-receipts", "failed") == 1);
        assertThat(this.page.deliveries()).anyMatch(line -> line.contains("ledger dead-lettered"));

        this.page.push("redrive");

        // Each of four consumers has a dead letter redriven, and the unprotected consumer reads all of them.
        awaitPaymentAddedWithoutTheAnnotation(5);
        awaitThat("the notice", () -> this.page.notice().startsWith("Fix and redrive: done."));
        awaitThat(
                "nothing pending",
                () -> this.page.count("operated-ledger", "redriven") > 0
                        && this.page.count("operated-ledger", "pending") == 0);

        this.page.push("reconcile");
        awaitThat("the reconciliation", () -> Stream.of("ledger", "turnover", "receipts", "points")
                .allMatch(consumer ->
                        this.page.cell("operated-" + consumer, "reconciled").endsWith("read, none missing")));
    }

    /** Excludes payments that {@link ListenersAreIdempotentIT} has delivered to the same application without the topic. */
    private <T> T paymentsInTopic(String aggregate, Class<T> type) {
        return this.jdbc
                .sql("select " + aggregate + " from payment where id not like ?")
                .param(ListenersAreIdempotentIT.ID_PREFIX + "%")
                .query(type)
                .single();
    }

    private long bookings() {
        return this.jdbc.sql("select count(*) from booking").query(Long.class).single();
    }

    @Test
    void everyButtonIsReachedByKeyboardAndPushedWithEnter() {
        for (String button :
                List.of("send", "send-five-times", "burst", "replay", "fail", "kill", "give-up", "request-twice")) {
            new Actions(this.browser).sendKeys(Keys.TAB).perform();
            assertThat(this.page.focused()).isEqualTo(button);
        }
        for (int back = 0; back < 7; back++) {
            new Actions(this.browser)
                    .keyDown(Keys.SHIFT)
                    .sendKeys(Keys.TAB)
                    .keyUp(Keys.SHIFT)
                    .perform();
        }
        new Actions(this.browser).sendKeys(Keys.ENTER).perform();

        awaitPaymentAddedWithoutTheAnnotation(1);
    }

    @Test
    void thePageFitsAPhoneAndIsDarkWhereThatIsPreferred() {
        Browser.resize(this.browser, Browser.PHONE);
        assertThat(this.page.contentWidth()).isLessThanOrEqualTo(Browser.PHONE.width);
        assertThat(this.page.top("accounts")).as("balances before buttons").isLessThan(this.page.top("send"));

        assertThat(this.page.background()).isEqualTo("rgb(247, 247, 245)");
        Browser.prefer(this.browser, "dark");
        assertThat(this.page.background()).isEqualTo("rgb(20, 22, 26)");
    }

    @Test
    void thePageNeedsNothingFromTheInternet() {
        assertThat(this.page.requestedUrls()).isNotEmpty().allMatch(requested -> requested.startsWith(this.url));
    }

    @Test
    @EnabledIfSystemProperty(named = SCREENSHOT_PROPERTY, matches = "true")
    void theScreenshotOfTheReadmeIsMadeAnew() throws IOException {
        this.page.push("burst");
        awaitSettled(800, () -> !this.page.showsProgress());
        this.page.push("replay");
        awaitThat("the replay begins", this.page::showsProgress);
        awaitSettled(800, () -> !this.page.showsProgress());
        this.page.push("send-five-times");
        awaitSettled(801, () -> !this.page.showsProgress());
        this.page.push("kill");
        awaitThat("the consumers are back", this.page::showsProgress);
        awaitSettled(802, () -> !this.page.showsProgress());
        this.page.push("fail");
        awaitSettled(803, () -> !this.page.showsProgress());

        Browser.resize(this.browser, new Dimension(Browser.DESKTOP.width, (int) this.page.contentHeight()));
        Files.createDirectories(SCREENSHOT.getParent());
        Files.write(SCREENSHOT, this.browser.getScreenshotAs(OutputType.BYTES));
    }

    /** Awaits one more payment, added once by each protected listener and this many times by the unprotected one. */
    private Books awaitPaymentAddedWithoutTheAnnotation(int times) {
        return awaitSettled(1, () -> {
            Books now = Books.read(this.jdbc);
            BigDecimal payment = now.paidIn().subtract(this.before.paidIn());
            BigDecimal expected = this.before.without().add(payment.multiply(BigDecimal.valueOf(times)));
            return now.without().equals(expected);
        });
    }

    /** Awaits this many more payments, a condition, and a page that shows the state of the database. */
    private Books awaitSettled(int payments, Callable<Boolean> condition) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).untilAsserted(() -> {
            Books now = Books.read(this.jdbc);
            assertThat(now.payments()).as("payments").isEqualTo(this.before.payments() + payments);
            assertThat(now.areRight()).as("right: %s", now).isTrue();
            assertThat(condition.call())
                    .as("as expected after %s: %s", this.before, now)
                    .isTrue();
            assertThat(now.areShownOn(this.page))
                    .as("shown on the page: %s", now)
                    .isTrue();
        });
        return Books.read(this.jdbc);
    }

    private List<Long> counts(String column) {
        return List.of(
                this.page.count("ledger", column),
                this.page.count("turnover", column),
                this.page.count("receipts", column),
                this.page.count("points", column));
    }

    private static List<Long> oneMore(List<Long> counts) {
        return counts.stream().map(count -> count + 1).toList();
    }

    private static void awaitThat(String what, Callable<Boolean> condition) {
        await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(condition);
    }
}
