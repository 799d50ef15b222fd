package dev.ratelimit;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Arrows between the packages of this module point downwards.
 */
@AnalyzeClasses(packages = "dev.ratelimit", importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleArchitectureTests {

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("dev.ratelimit.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule nothingDependsOnTheWiring = noClasses().that()
		.resideOutsideOfPackage("dev.ratelimit.autoconfigure..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("dev.ratelimit.autoconfigure..");

	@ArchTest
	static final ArchRule edgesDoNotKnowEachOther = noClasses().that()
		.resideInAPackage("dev.ratelimit.gateway..")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("dev.ratelimit.aop..", "dev.ratelimit.actuate..", "dev.ratelimit.selfservice..",
				"dev.ratelimit.admin..");

	@ArchTest
	static final ArchRule annotationDoesNotKnowTheGateway = noClasses().that()
		.resideInAPackage("dev.ratelimit.aop..")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("dev.ratelimit.gateway..", "dev.ratelimit.actuate..", "dev.ratelimit.selfservice..",
				"dev.ratelimit.admin..");

	@ArchTest
	static final ArchRule endpointAndSelfServiceDoNotKnowEachOther = noClasses().that()
		.resideInAPackage("dev.ratelimit.actuate..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("dev.ratelimit.selfservice..");

	@ArchTest
	static final ArchRule onlyTheEndpointKnowsTheActuator = noClasses().that()
		.resideOutsideOfPackages("dev.ratelimit.actuate..", "dev.ratelimit.autoconfigure..")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot.actuate..", "dev.ratelimit.actuate..");

	@ArchTest
	static final ArchRule edgesReachCountersThroughTheLimiter = noClasses().that()
		.resideInAnyPackage("dev.ratelimit.gateway..", "dev.ratelimit.aop..", "dev.ratelimit.web..")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("dev.ratelimit.counter..", "dev.ratelimit.redis..", "dev.ratelimit.memory..",
				"dev.ratelimit.limiter..");

	@ArchTest
	static final ArchRule noJacksonInTheLibrary = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("com.fasterxml.jackson..", "tools.jackson..");

}
