package dev.idempotency.build;

import static dev.idempotency.build.BuildsAgreeTests.notUnderstood;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import javax.xml.xpath.XPathNodes;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;

/** Reads the POMs without Maven: inheritance is that of one parent, and what would need more is refused. */
final class MavenBuild {

    private static final DocumentBuilderFactory XML = DocumentBuilderFactory.newInstance();
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();
    private static final String PLUGIN = "/project/build//plugin[artifactId='%s']/";

    private final SortedSet<String> facts = new TreeSet<>();
    private final Map<String, String> properties = new TreeMap<>();
    private final Map<String, String> managedVersions = new TreeMap<>();
    private final List<String> boms = new ArrayList<>();

    /** What the build says, one fact a line, in words that belong neither to Maven nor to Gradle. */
    static SortedSet<String> facts() {
        MavenBuild build = new MavenBuild();
        build.readRoot();
        return build.facts;
    }

    private void readRoot() {
        String path = "pom.xml";
        for (Node property : nodes(pom(path), "/project/version | /project/properties/*")) {
            String name = property.getNodeName();
            String value = filled(text(property));
            this.properties.put(name.equals("version") ? "project.version" : name, value);
            if (name.endsWith(".version") && !name.equals("java.version")) {
                this.facts.add(name + " = " + value);
            }
        }
        Node root = pom(path);
        refuse(path, root, "//dependency[not(../../parent::project)] | //annotationProcessorPaths");
        for (Node dependency : nodes(root, "//dependency")) {
            Map<String, String> parts = parts(dependency);
            String coordinates = parts.remove("groupId") + ":" + parts.remove("artifactId");
            String version = parts.remove("version");
            switch (parts.toString()) {
                case "{}" -> this.managedVersions.put(coordinates, version);
                case "{scope=import, type=pom}" -> this.boms.add(coordinates + " " + version);
                default -> throw notUnderstood(path, coordinates + " " + parts);
            }
        }
        texts(root, "/project/modules/module").forEach(this::readModule);

        this.facts.add("project " + String.join(" ", texts(root, "/project/groupId | /project/version")));
        this.facts.add("Java = [" + this.properties.get("maven.compiler.release") + "]");
    }

    private void readModule(String module) {
        String path = module + "/pom.xml";
        Node pom = pom(path);
        if (texts(pom, "/project/packaging").contains("pom")) {
            readPlatform(module, path, pom);
            return;
        }
        refuse(
                path,
                pom,
                "//dependency[not(../parent::project)]"
                        + " | //properties/*[contains(name(), 'version') or starts-with(name(), 'maven.')]");
        this.facts.add("module " + module);
        this.boms.forEach(bom -> this.facts.add(module + ": BOM " + bom));
        nodes(pom, "//dependency | //annotationProcessorPaths/*").forEach(node -> readDependency(module, path, node));
        if (nodes(pom, PLUGIN.formatted("maven-deploy-plugin") + "configuration/skip[.='true']")
                .isEmpty()) {
            this.facts.add("publishes " + module);
        }
    }

    private void readPlatform(String module, String path, Node pom) {
        refuse(path, pom, "//dependency[not(../parent::dependencyManagement)]");
        this.facts.add("module " + module);
        this.facts.add("publishes " + module);
        for (Node dependency : nodes(pom, "//dependency")) {
            Map<String, String> parts = parts(dependency);
            this.facts.add(module + ": manages " + parts.remove("groupId") + ":" + parts.remove("artifactId") + " "
                    + parts.remove("version"));
            if (!parts.isEmpty()) {
                throw notUnderstood(path, text(dependency));
            }
        }
    }

    private void readDependency(String module, String path, Node dependency) {
        Map<String, String> parts = parts(dependency);
        String coordinates = parts.remove("groupId") + ":" + parts.remove("artifactId");
        String stated = parts.remove("version");
        String version = (stated != null) ? stated : this.managedVersions.getOrDefault(coordinates, "managed");
        // Maven must state the version of an annotation processor where Gradle leaves it to Spring Boot's BOM.
        boolean managed = coordinates.startsWith("org.springframework.boot:")
                && version.equals(this.properties.get("spring-boot.version"));
        String scope =
                switch (dependency.getNodeName() + parts) {
                    case "dependency{}" -> "compile";
                    case "dependency{optional=true}" -> "optional";
                    case "dependency{scope=runtime}" -> "runtime";
                    case "dependency{scope=test}" -> "test";
                    case "path{}" -> "processor";
                    default -> throw notUnderstood(path, coordinates + " " + parts);
                };
        if (version.contains("${")) {
            throw notUnderstood(path, coordinates + " " + version);
        }
        this.facts.add(module + ": " + scope + " " + coordinates + " " + (managed ? "managed" : version));
    }

    private Node pom(String path) {
        try {
            String xml = filled(Documentation.read(path));
            return XML.newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
        } catch (Exception ex) {
            throw new IllegalStateException(path + " cannot be read", ex);
        }
    }

    /** The text with the properties of the root in it. */
    private String filled(String text) {
        String filled = text;
        for (Map.Entry<String, String> property : this.properties.entrySet()) {
            filled = filled.replace("${" + property.getKey() + "}", property.getValue());
        }
        return filled;
    }

    private static void refuse(String path, Node pom, String xpath) {
        nodes(pom, xpath).forEach(node -> {
            throw notUnderstood(path, "<" + node.getNodeName() + "> " + text(node));
        });
    }

    private static Map<String, String> parts(Node element) {
        Map<String, String> parts = new TreeMap<>();
        for (Node part = element.getFirstChild(); part != null; part = part.getNextSibling()) {
            if (part.getNodeType() == Node.ELEMENT_NODE) {
                parts.put(part.getNodeName(), text(part));
            }
        }
        return parts;
    }

    private static List<String> texts(Node pom, String xpath) {
        return nodes(pom, xpath).stream().map(MavenBuild::text).toList();
    }

    private static String text(Node node) {
        return node.getTextContent().strip();
    }

    private static List<Node> nodes(Node start, String xpath) {
        List<Node> nodes = new ArrayList<>();
        try {
            XPATH.evaluateExpression(xpath, start, XPathNodes.class).forEach(nodes::add);
        } catch (XPathExpressionException ex) {
            throw new IllegalArgumentException(xpath, ex);
        }
        return nodes;
    }
}
