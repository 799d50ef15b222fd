package dev.ratelimit.autoconfigure;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The BOM has no parent, so nothing but these keeps it in step with the project.
 */
class BomTests {

	private static final String MANAGED = "/project/dependencyManagement/dependencies/dependency";

	private final Document project = parse(Path.of("..", "pom.xml"));

	private final Document bom = parse(Path.of("..", "ratelimit-bom", "pom.xml"));

	@Test
	void hasNoParentAndTheVersionOfTheProject() {
		assertThat(texts(this.bom, "/project/parent")).isEmpty();
		assertThat(texts(this.bom, "/project/version")).isEqualTo(texts(this.project, "/project/version"));
	}

	@Test
	void managesAllOfOurArtifactsAndNoOthers() {
		String ours = MANAGED + "[groupId='dev.ratelimit' and not(type)]/artifactId";
		assertThat(texts(this.bom, MANAGED + "/artifactId"))
			.containsExactlyInAnyOrderElementsOf(texts(this.project, ours));
		assertThat(texts(this.bom, MANAGED + "/groupId")).containsOnly("dev.ratelimit");
		assertThat(texts(this.bom, MANAGED + "/version")).containsOnly("${project.version}");
	}

	@Test
	void isReleasedByTheSameNames() {
		assertThat(releaseProperties(this.bom)).isNotEmpty().isEqualTo(releaseProperties(this.project));
	}

	private static Map<String, String> releaseProperties(Document pom) {
		Map<String, String> properties = new TreeMap<>();
		NodeList found = find(pom, "/project/properties/*[starts-with(name(), 'release.')]");
		for (int i = 0; i < found.getLength(); i++) {
			properties.put(found.item(i).getNodeName(), found.item(i).getTextContent());
		}
		return properties;
	}

	private static List<String> texts(Document pom, String path) {
		List<String> texts = new ArrayList<>();
		NodeList found = find(pom, path);
		for (int i = 0; i < found.getLength(); i++) {
			texts.add(found.item(i).getTextContent());
		}
		return texts;
	}

	private static NodeList find(Document pom, String path) {
		try {
			return (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, pom, XPathConstants.NODESET);
		}
		catch (Exception ex) {
			throw new IllegalStateException(path, ex);
		}
	}

	private static Document parse(Path pom) {
		try {
			return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
		}
		catch (Exception ex) {
			throw new IllegalStateException(pom.toString(), ex);
		}
	}

}
