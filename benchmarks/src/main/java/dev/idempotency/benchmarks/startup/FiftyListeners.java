package dev.idempotency.benchmarks.startup;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Fifty listeners in separate classes, as proxies are created by class. */
@Configuration(proxyBeanMethods = false)
@Import({
    FiftyListeners.Listener01.class,
    FiftyListeners.Listener02.class,
    FiftyListeners.Listener03.class,
    FiftyListeners.Listener04.class,
    FiftyListeners.Listener05.class,
    FiftyListeners.Listener06.class,
    FiftyListeners.Listener07.class,
    FiftyListeners.Listener08.class,
    FiftyListeners.Listener09.class,
    FiftyListeners.Listener10.class,
    FiftyListeners.Listener11.class,
    FiftyListeners.Listener12.class,
    FiftyListeners.Listener13.class,
    FiftyListeners.Listener14.class,
    FiftyListeners.Listener15.class,
    FiftyListeners.Listener16.class,
    FiftyListeners.Listener17.class,
    FiftyListeners.Listener18.class,
    FiftyListeners.Listener19.class,
    FiftyListeners.Listener20.class,
    FiftyListeners.Listener21.class,
    FiftyListeners.Listener22.class,
    FiftyListeners.Listener23.class,
    FiftyListeners.Listener24.class,
    FiftyListeners.Listener25.class,
    FiftyListeners.Listener26.class,
    FiftyListeners.Listener27.class,
    FiftyListeners.Listener28.class,
    FiftyListeners.Listener29.class,
    FiftyListeners.Listener30.class,
    FiftyListeners.Listener31.class,
    FiftyListeners.Listener32.class,
    FiftyListeners.Listener33.class,
    FiftyListeners.Listener34.class,
    FiftyListeners.Listener35.class,
    FiftyListeners.Listener36.class,
    FiftyListeners.Listener37.class,
    FiftyListeners.Listener38.class,
    FiftyListeners.Listener39.class,
    FiftyListeners.Listener40.class,
    FiftyListeners.Listener41.class,
    FiftyListeners.Listener42.class,
    FiftyListeners.Listener43.class,
    FiftyListeners.Listener44.class,
    FiftyListeners.Listener45.class,
    FiftyListeners.Listener46.class,
    FiftyListeners.Listener47.class,
    FiftyListeners.Listener48.class,
    FiftyListeners.Listener49.class,
    FiftyListeners.Listener50.class
})
class FiftyListeners {

    static class Listener01 extends FleetListener {}

    static class Listener02 extends FleetListener {}

    static class Listener03 extends FleetListener {}

    static class Listener04 extends FleetListener {}

    static class Listener05 extends FleetListener {}

    static class Listener06 extends FleetListener {}

    static class Listener07 extends FleetListener {}

    static class Listener08 extends FleetListener {}

    static class Listener09 extends FleetListener {}

    static class Listener10 extends FleetListener {}

    static class Listener11 extends FleetListener {}

    static class Listener12 extends FleetListener {}

    static class Listener13 extends FleetListener {}

    static class Listener14 extends FleetListener {}

    static class Listener15 extends FleetListener {}

    static class Listener16 extends FleetListener {}

    static class Listener17 extends FleetListener {}

    static class Listener18 extends FleetListener {}

    static class Listener19 extends FleetListener {}

    static class Listener20 extends FleetListener {}

    static class Listener21 extends FleetListener {}

    static class Listener22 extends FleetListener {}

    static class Listener23 extends FleetListener {}

    static class Listener24 extends FleetListener {}

    static class Listener25 extends FleetListener {}

    static class Listener26 extends FleetListener {}

    static class Listener27 extends FleetListener {}

    static class Listener28 extends FleetListener {}

    static class Listener29 extends FleetListener {}

    static class Listener30 extends FleetListener {}

    static class Listener31 extends FleetListener {}

    static class Listener32 extends FleetListener {}

    static class Listener33 extends FleetListener {}

    static class Listener34 extends FleetListener {}

    static class Listener35 extends FleetListener {}

    static class Listener36 extends FleetListener {}

    static class Listener37 extends FleetListener {}

    static class Listener38 extends FleetListener {}

    static class Listener39 extends FleetListener {}

    static class Listener40 extends FleetListener {}

    static class Listener41 extends FleetListener {}

    static class Listener42 extends FleetListener {}

    static class Listener43 extends FleetListener {}

    static class Listener44 extends FleetListener {}

    static class Listener45 extends FleetListener {}

    static class Listener46 extends FleetListener {}

    static class Listener47 extends FleetListener {}

    static class Listener48 extends FleetListener {}

    static class Listener49 extends FleetListener {}

    static class Listener50 extends FleetListener {}
}
