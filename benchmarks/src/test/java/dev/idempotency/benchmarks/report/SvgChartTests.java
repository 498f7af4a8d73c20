package dev.idempotency.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class SvgChartTests {

    private static final LineChart CHART = new LineChart(
            "growth",
            "Cost & <growth>",
            "rows, in millions",
            "ratio to raw",
            List.of(
                    line("raw", 1, 1, 1),
                    line("`claims`", 0.7, 0.65, 0.6),
                    line("positions", 0.8, 0.8, 0.8),
                    line("a fourth", 0.1, 0.2, 0)));

    private static LineChart.Line line(String name, double... medians) {
        return new LineChart.Line(
                name,
                IntStream.range(0, medians.length)
                        .mapToObj(i ->
                                new LineChart.Point(i * 5, new Spread(medians[i], medians[i] * 0.9, medians[i] * 1.1)))
                        .toList());
    }

    @Test
    void everyValueHasAPointWithinThePicture() throws Exception {
        Element svg = parse(SvgChart.draw(CHART)).getDocumentElement();
        List<Element> points = elements(svg).stream()
                .filter(element -> element.getAttribute("class").equals("point"))
                .toList();
        assertThat(points).hasSize(12);
        assertThat(points)
                .extracting(Element::getTextContent)
                .contains("raw, 0: 1", "claims, 10: 0.6", "claims, 5: 0.65", "a fourth, 10: 0");
        assertThat(points)
                .filteredOn(point -> point.getTagName().equals("circle"))
                .allSatisfy(point -> {
                    assertThat(Double.parseDouble(point.getAttribute("cx")))
                            .isBetween(0.0, Double.parseDouble(svg.getAttribute("width")));
                    assertThat(Double.parseDouble(point.getAttribute("cy"))).isBetween(0.0, 400.0);
                });
    }

    @Test
    void whoDoesNotSeeItIsToldWhatItShowsAndWhoDoesKnowsWhatIsWhat() throws Exception {
        Element svg = parse(SvgChart.draw(CHART)).getDocumentElement();
        assertThat(svg.getAttribute("role")).isEqualTo("img");
        assertThat(text(svg, "title")).startsWith("Cost & <growth>");
        assertThat(text(svg, "desc"))
                .contains("ratio to raw by rows, in millions")
                .contains("positions: 0.8 at 0, 0.8 at 5, 0.8 at 10");
        assertThat(elements(svg).stream()
                        .filter(element -> element.getTagName().equals("text"))
                        .map(Element::getTextContent))
                .contains("rows, in millions", "ratio to raw", "raw", "claims", "positions", "a fourth", "5", "10");
    }

    @Test
    void ofNothingThereIsNoPicture() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LineChart("nothing", "Nothing", "x", "y", List.of(line("raw"))));
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static List<Element> elements(Element root) {
        NodeList all = root.getElementsByTagName("*");
        return IntStream.range(0, all.getLength())
                .mapToObj(i -> (Element) all.item(i))
                .toList();
    }

    private static String text(Element root, String tag) {
        return root.getElementsByTagName(tag).item(0).getTextContent();
    }
}
