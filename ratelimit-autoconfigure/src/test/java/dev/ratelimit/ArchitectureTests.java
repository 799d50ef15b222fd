package dev.ratelimit;

import java.util.List;
import java.util.Map;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Packages only point downwards:
 *
 * <pre>
 *    limiter ── policy
 *    memory  redis  guard  lease  hot  …    siblings: never see each other
 *    counter ── algorithm   store           redis keeps counters and records
 *    dev.ratelimit                          the vocabulary
 * </pre>
 *
 * A package that is not named in {@link #MAY_USE} is a sibling, so that a new one is
 * covered from its first class on.
 */
class ArchitectureTests {

	private static final String ROOT = "dev.ratelimit";

	private static final List<String> SIBLING_MAY_USE = List.of("", "algorithm", "counter");

	private static final Map<String, List<String>> MAY_USE = Map.of("", List.of(), "algorithm", List.of(""), "counter",
			List.of("", "algorithm"), "policy", List.of("", "algorithm", "counter"), "limiter",
			List.of("", "counter", "policy"), "store", List.of(""), "redis",
			List.of("", "algorithm", "counter", "store", "refusal"));

	private static JavaClasses core;

	@BeforeAll
	static void readCore() {
		// The names of other libraries' classes are enough; reading those takes seconds.
		ArchConfiguration.withThreadLocalScope((configuration) -> {
			configuration.setResolveMissingDependenciesFromClassPath(false);
			core = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
				.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_JARS)
				.importPackages(ROOT);
		});
	}

	@Test
	void everyPackageIsRead() {
		assertThat(core.stream().map(ArchitectureTests::layer)).contains("", "algorithm", "counter", "memory", "redis",
				"policy", "limiter");
	}

	@Test
	void packagesOnlyPointDownwards() {
		classes().should(new OnlyPointDownwards()).check(core);
	}

	@Test
	void packagesAreFreeOfCycles() {
		slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(core);
	}

	@Test
	void vocabularyDependsOnNothing() {
		classes().that()
			.resideInAPackage(ROOT)
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage(ROOT, "java..", "org.jspecify..")
			.check(core);
	}

	@Test
	void algorithmsKnowOnlyTheVocabulary() {
		classes().that()
			.resideInAPackage(ROOT + ".algorithm..")
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage(ROOT, ROOT + ".algorithm..", "java.lang..", "java.util..", "java.time..",
					"org.jspecify..")
			.check(core);
	}

	@Test
	void coreKnowsNeitherSpringNorHttp() {
		noClasses().should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.springframework..", "java.net.http..", "jakarta.servlet..", "reactor.netty.http..",
					"io.netty.handler.codec.http..", "com.sun.net.httpserver..")
			.check(core);
	}

	/**
	 * The package right below the root that a class is in, {@code ""} for the root.
	 */
	private static String layer(JavaClass javaClass) {
		String name = javaClass.getPackageName();
		return name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1).split("\\.")[0];
	}

	private static final class OnlyPointDownwards extends ArchCondition<JavaClass> {

		OnlyPointDownwards() {
			super("only depend on its own package and those below");
		}

		@Override
		public void check(JavaClass javaClass, ConditionEvents events) {
			String layer = layer(javaClass);
			List<String> allowed = MAY_USE.getOrDefault(layer, SIBLING_MAY_USE);
			for (Dependency dependency : javaClass.getDirectDependenciesFromSelf()) {
				JavaClass target = dependency.getTargetClass().getBaseComponentType();
				if (target.getPackageName().startsWith(ROOT)) {
					boolean fine = layer(target).equals(layer) || allowed.contains(layer(target));
					events.add(new SimpleConditionEvent(javaClass, fine, dependency.getDescription()));
				}
			}
		}

	}

}
