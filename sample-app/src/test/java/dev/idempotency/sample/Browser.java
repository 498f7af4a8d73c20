package dev.idempotency.sample;

import java.io.File;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** Headless Chromium, if it is installed with its driver. Nothing is downloaded. */
final class Browser {

    static final String MISSING = "Not tested: the sample's page needs chromium and chromedriver on the PATH";

    static final Dimension DESKTOP = new Dimension(1200, 1400);
    static final Dimension PHONE = new Dimension(360, 800);

    private Browser() {}

    static boolean isInstalled() {
        return chromium().isPresent() && driver().isPresent();
    }

    static ChromeDriver start() {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium().orElseThrow());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--hide-scrollbars");
        ChromeDriver browser = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driver().orElseThrow())
                        .build(),
                options);
        browser.manage().timeouts().scriptTimeout(Duration.ofSeconds(10));
        return browser;
    }

    /** Sets the size of the page, as a window cannot be as narrow as a phone. */
    static void resize(ChromeDriver browser, Dimension size) {
        browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", size.width, "height", size.height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** Sets the preferred color scheme: {@code light} or {@code dark}. */
    static void prefer(ChromeDriver browser, String colorScheme) {
        browser.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", new Object[] {Map.of("name", "prefers-color-scheme", "value", colorScheme)}));
    }

    private static Optional<File> chromium() {
        return onPath("chromium", "chromium-browser", "google-chrome", "chrome");
    }

    private static Optional<File> driver() {
        return onPath("chromedriver");
    }

    private static Optional<File> onPath(String... names) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Arrays.stream(names)
                .flatMap(name -> Stream.of(path.split(File.pathSeparator))
                        .flatMap(folder -> Stream.of(new File(folder, name), new File(folder, name + ".exe"))))
                .filter(File::canExecute)
                .findFirst();
    }
}
