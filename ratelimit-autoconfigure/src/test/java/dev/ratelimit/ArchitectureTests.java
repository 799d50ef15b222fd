package dev.ratelimit;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The picture of {@code docs/architecture.md}: which package may use which, over all
 * modules. Every package may use the vocabulary, {@code dev.ratelimit}. Classes that only
 * wire, {@code …Configuration}, may use everything.
 */
class ArchitectureTests {

	private static final String ROOT = "dev.ratelimit";

	private static final Map<String, List<String>> MAY_USE = new TreeMap<>(Map.ofEntries(
			// ratelimit-core
			Map.entry("algorithm", List.of()), Map.entry("background", List.of()), Map.entry("caller", List.of()),
			Map.entry("fleet", List.of()), Map.entry("counter", List.of("algorithm", "caller")),
			Map.entry("memory", List.of("algorithm", "counter")), Map.entry("guard", List.of("counter")),
			Map.entry("lease", List.of("counter")), Map.entry("hot", List.of("background", "counter")),
			Map.entry("policy", List.of("algorithm", "caller", "counter")),
			Map.entry("split", List.of("counter", "hot")), Map.entry("penalty", List.of("background", "counter")),
			Map.entry("redis", List.of("algorithm", "background", "caller", "counter", "fleet", "hot", "penalty")),
			Map.entry("limiter", List.of("background", "caller", "counter", "penalty", "policy")),
			Map.entry("assembly",
					List.of("counter", "guard", "lease", "limiter", "memory", "penalty", "policy", "redis", "split")),
			// ratelimit-control
			Map.entry("json", List.of()), Map.entry("store", List.of("background")),
			Map.entry("store.redis", List.of("background", "redis", "store")),
			Map.entry("store.sql", List.of("background", "store")),
			Map.entry("refusal", List.of("background", "caller", "json")),
			Map.entry("refusal.redis", List.of("redis", "refusal")),
			Map.entry("control", List.of("background", "json", "policy", "store")),
			// ratelimit-autoconfigure
			Map.entry("reactive", List.of()), Map.entry("web", List.of("background", "json", "policy")),
			Map.entry("web.reactive", List.of("web")), Map.entry("web.servlet", List.of("web")),
			Map.entry("web.tracing", List.of("web")),
			Map.entry("gateway", List.of("config", "policy", "reactive", "web", "web.reactive", "web.servlet")),
			Map.entry("aop", List.of("reactive", "web", "web.reactive", "web.servlet")),
			Map.entry("config", List.of("background", "control", "events", "policy", "store", "web")),
			Map.entry("admin",
					List.of("background", "caller", "control", "counter", "fleet", "guard", "hot", "json", "limiter",
							"penalty", "policy", "refusal", "split", "store")),
			Map.entry("actuate",
					List.of("admin", "control", "counter", "fleet", "guard", "json", "limiter", "policy", "store",
							"web")),
			Map.entry("selfservice",
					List.of("admin", "control", "counter", "json", "limiter", "memory", "policy", "store", "web")),
			Map.entry("events", List.of("background", "caller", "json")), Map.entry("metrics",
					List.of("background", "control", "fleet", "guard", "hot", "lease", "penalty", "policy", "store"))));

	/** Wires the core and lives as long as the application; nothing may use it. */
	private static final String WIRING = "autoconfigure";

	private static JavaClasses classes;

	@BeforeAll
	static void read() {
		// The names of other libraries' classes are enough; reading those takes seconds.
		ArchConfiguration.withThreadLocalScope((configuration) -> {
			configuration.setResolveMissingDependenciesFromClassPath(false);
			classes = new ClassFileImporter().withImportOption(ArchitectureTests::isMain).importPackages(ROOT);
		});
	}

	private static boolean isMain(Location location) {
		return !location.contains("/test-classes/") && !location.contains("-tests.jar")
				&& !location.contains("ratelimit-test-servers");
	}

	@Test
	void everyPackageIsInThePicture() {
		Set<String> packages = new TreeSet<>();
		classes.forEach((type) -> packages.add(room(type)));
		packages.removeAll(Set.of("", WIRING));
		assertThat(packages).isEqualTo(MAY_USE.keySet());
	}

	@Test
	void packagesUseOnlyWhatThePictureAllows() {
		Set<String> wrong = new TreeSet<>();
		for (JavaClass type : classes) {
			if (room(type).equals(WIRING) || isWiring(type)) {
				continue;
			}
			Set<String> allowed = new HashSet<>(MAY_USE.getOrDefault(room(type), List.of()));
			allowed.addAll(List.of("", room(type)));
			for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
				JavaClass target = dependency.getTargetClass().getBaseComponentType();
				if (isOurs(target) && !allowed.contains(room(target))) {
					wrong.add(type.getName() + " -> " + target.getName());
				}
			}
		}
		assertThat(wrong).isEmpty();
	}

	@Test
	void thePictureHasNoCycle() {
		MAY_USE.forEach((room, used) -> assertThat(reachable(used, new HashSet<>())).as(room).doesNotContain(room));
	}

	@Test
	void vocabularyDependsOnNothing() {
		classes().that()
			.resideInAPackage(ROOT)
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage(ROOT, "java..", "org.jspecify..")
			.check(classes);
	}

	@Test
	void algorithmsKnowOnlyTheVocabulary() {
		classes().that()
			.resideInAPackage(ROOT + ".algorithm..")
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage(ROOT, ROOT + ".algorithm..", "java.lang..", "java.util..", "java.time..",
					"org.jspecify..")
			.check(classes);
	}

	@Test
	void thePictureHasNoArrowThatNoClassUses() {
		Map<String, Set<String>> used = new TreeMap<>();
		for (JavaClass type : classes) {
			for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
				JavaClass target = dependency.getTargetClass().getBaseComponentType();
				if (isOurs(target) && !isWiring(type)) {
					used.computeIfAbsent(room(type), (room) -> new HashSet<>()).add(room(target));
				}
			}
		}
		Set<String> unused = new TreeSet<>();
		MAY_USE.forEach((room, allowed) -> allowed.stream()
			.filter((target) -> !used.getOrDefault(room, Set.of()).contains(target))
			.forEach((target) -> unused.add(room + " -> " + target)));
		assertThat(unused).isEmpty();
	}

	@Test
	void noPackageIsInTwoModules() throws IOException {
		Map<String, Set<String>> modules = new TreeMap<>();
		for (Source source : sources("ratelimit-*")) {
			modules.computeIfAbsent(source.room(), (room) -> new TreeSet<>()).add(source.module());
		}
		assertThat(modules.keySet()).containsAll(MAY_USE.keySet());
		assertThat(modules.values()).allSatisfy((of) -> assertThat(of).hasSize(1));
	}

	/** These modules are not on the class path, so their imports are read. */
	@ParameterizedTest
	@MethodSource("otherModules")
	void otherModulesUseOnlyWhatThePictureAllows(String module, Set<String> allowed) throws IOException {
		Set<String> used = new TreeSet<>();
		Set<String> own = new HashSet<>();
		for (Source source : sources(module)) {
			own.add(source.room());
			Pattern.compile("^import (?:static )?dev\\.ratelimit\\.?([a-z.]*)\\.[A-Z]", Pattern.MULTILINE)
				.matcher(Files.readString(source.file()))
				.results()
				.forEach((found) -> used.add(found.group(1)));
		}
		used.removeAll(own);
		assertThat(used).isEqualTo(allowed);
	}

	static Stream<Arguments> otherModules() {
		return Stream.of(Arguments.of("ratelimit-test-servers", Set.of()),
				Arguments.of("ratelimit-test", Set.of("", "assembly", "memory", "penalty", "testing")),
				Arguments.of("ratelimit-gateway-app", Set.of("actuate", "config")));
	}

	@Test
	void ofRedisControlKnowsOnlySendingAndSignals() throws IOException {
		noClasses().that()
			.resideInAnyPackage(packages("ratelimit-control"))
			.should()
			.dependOnClassesThat(JavaClass.Predicates.resideInAPackage(ROOT + ".redis")
				.and(not(nameMatching(".*\\.(RedisSender|RedisSignals|LuaScript|RedisConnector)(\\$.*)?"))))
			.check(classes);
	}

	@Test
	void coreAndControlKnowNeitherSpringNorHttp() throws IOException {
		noClasses().that()
			.resideInAnyPackage(packages("ratelimit-core", "ratelimit-control"))
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.springframework..", "java.net.http..", "jakarta.servlet..", "reactor.netty.http..",
					"io.netty.handler.codec.http..", "com.sun.net.httpserver..")
			.check(classes);
	}

	@Test
	void onlyTheEndpointKnowsTheActuator() {
		noClasses().that()
			.resideOutsideOfPackages(ROOT + ".actuate..", ROOT + "." + WIRING + "..")
			.and()
			.haveSimpleNameNotEndingWith("Configuration")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework.boot.actuate..")
			.check(classes);
	}

	@Test
	void noJacksonInTheLibrary() {
		noClasses().should()
			.dependOnClassesThat()
			.resideInAnyPackage("com.fasterxml.jackson..", "tools.jackson..")
			.check(classes);
	}

	/** The names of the packages of modules. */
	private static String[] packages(String... modules) throws IOException {
		Set<String> packages = new TreeSet<>();
		for (String module : modules) {
			sources(module)
				.forEach((source) -> packages.add(source.room().isEmpty() ? ROOT : ROOT + "." + source.room()));
		}
		return packages.toArray(String[]::new);
	}

	/** The main sources of all modules whose names match. */
	private static List<Source> sources(String glob) throws IOException {
		List<Source> sources = new ArrayList<>();
		try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), glob)) {
			for (Path module : modules) {
				Path root = module.resolve("src/main/java/dev/ratelimit");
				if (!Files.isDirectory(root)) {
					continue;
				}
				try (Stream<Path> files = Files.walk(root)) {
					files.filter((file) -> file.toString().endsWith(".java"))
						.forEach((file) -> sources.add(new Source(module.getFileName().toString(),
								root.relativize(file.getParent()).toString().replace(File.separatorChar, '.'), file)));
				}
			}
		}
		return sources;
	}

	private static Set<String> reachable(List<String> rooms, Set<String> found) {
		for (String room : rooms) {
			if (found.add(room)) {
				reachable(MAY_USE.getOrDefault(room, List.of()), found);
			}
		}
		return found;
	}

	private static boolean isWiring(JavaClass type) {
		return type.getName().replaceAll("\\$.*", "").matches(".*\\w+Configuration");
	}

	private static boolean isOurs(JavaClass type) {
		return type.getPackageName().equals(ROOT) || type.getPackageName().startsWith(ROOT + ".");
	}

	/** The package of a class without the root, {@code ""} for the root. */
	private static String room(JavaClass type) {
		return type.getPackageName().equals(ROOT) ? "" : type.getPackageName().substring(ROOT.length() + 1);
	}

	private record Source(String module, String room, Path file) {
	}

}
