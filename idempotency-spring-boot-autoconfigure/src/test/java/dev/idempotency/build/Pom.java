package dev.idempotency.build;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/** One POM, with its properties and those of its parent filled in. */
final class Pom {

    private static final Pattern PROPERTY = Pattern.compile("\\$\\{([^}]+)}");

    private final String path;
    private final Element project;
    private final Map<String, String> properties;

    Pom(String path, String xml, Map<String, String> properties) {
        this.path = path;
        this.properties = properties;
        try {
            this.project = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new InputSource(new StringReader(xml)))
                    .getDocumentElement();
        } catch (ParserConfigurationException | SAXException | IOException ex) {
            throw new IllegalArgumentException(path + " cannot be read", ex);
        }
    }

    String path() {
        return this.path;
    }

    /** The elements at that path below {@code project}, such as {@code modules/module}. */
    List<Element> elements(String elementPath) {
        return descendants(this.project, elementPath);
    }

    /** The plugins of that name at that path below {@code project}. */
    List<Element> plugins(String elementPath, String artifactId) {
        return elements(elementPath + "/plugin").stream()
                .filter(plugin -> descendants(plugin, "artifactId").stream()
                        .anyMatch(id -> id.getTextContent().strip().equals(artifactId)))
                .toList();
    }

    static List<Element> descendants(Element start, String elementPath) {
        List<Element> found = List.of(start);
        for (String name : elementPath.split("/")) {
            found = found.stream()
                    .flatMap(element -> children(element).stream())
                    .filter(child -> child.getTagName().equals(name))
                    .toList();
        }
        return found;
    }

    /** The elements of that name anywhere in the POM. */
    List<Element> anywhere(String name) {
        NodeList nodes = this.project.getElementsByTagName(name);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(index -> (Element) nodes.item(index))
                .toList();
    }

    /** The text of the one element at that path. */
    String text(String elementPath) {
        List<Element> found = elements(elementPath);
        if (found.size() != 1) {
            throw new NotUnderstood(this.path, elementPath + ", found " + found.size() + " times,");
        }
        return text(found.get(0));
    }

    String text(Element element) {
        String text = element.getTextContent().strip();
        return PROPERTY.matcher(text).replaceAll(match -> {
            String value = this.properties.get(match.group(1));
            if (value == null) {
                throw new NotUnderstood(this.path, text);
            }
            return value;
        });
    }

    static List<Element> children(Element parent) {
        List<Element> children = new ArrayList<>();
        for (var node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                children.add(element);
            }
        }
        return children;
    }
}
