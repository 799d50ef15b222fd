package dev.ratelimit.web;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * What the edges share must load in every application, whichever stack it has.
 */
class WebPackageTests {

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.importPackages("dev.ratelimit.web");

	@Test
	void knowsNeitherStackAndNoJsonLibrary() {
		noClasses().that()
			.resideInAPackage("dev.ratelimit.web")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("jakarta.servlet..", "reactor..", "org.springframework.web.server..",
					"org.springframework.web.reactive..", "org.springframework.web.servlet..",
					"org.springframework.http.server.reactive..", "org.springframework.cloud..", "com.fasterxml..")
			.check(CLASSES);
	}

	@Test
	void onlyTwoClassesKnowSpringSecurity() {
		noClasses().that()
			.resideInAPackage("dev.ratelimit.web")
			.and()
			.haveNameNotMatching(".*Security(Principals|Callers).*")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework.security..")
			.check(CLASSES);
	}

}
