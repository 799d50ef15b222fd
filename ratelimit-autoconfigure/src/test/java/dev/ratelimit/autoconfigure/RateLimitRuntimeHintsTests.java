package dev.ratelimit.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.cloud.gateway.server.mvc.filter.FilterSupplier;

import dev.ratelimit.config.PolicyProperties;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.config.UrlProperties;
import dev.ratelimit.gateway.DistributedRateLimiter;
import dev.ratelimit.web.IdentityOptions;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitRuntimeHintsTests {

	private final RuntimeHints hints = hints();

	@Test
	void everyScriptAndTableIsInTheImage() throws IOException {
		List<String> files = Stream
			.concat(resources("ratelimit-core", "META-INF/ratelimit"),
					resources("ratelimit-control", "META-INF/ratelimit/sql"))
			.toList();
		assertThat(files).contains("META-INF/ratelimit/gcra.lua", "META-INF/ratelimit/sql/V1__records.sql")
			.allSatisfy((file) -> assertThat(RuntimeHintsPredicates.resource().forResource(file)).accepts(this.hints));
	}

	@Test
	void propertiesAndDocumentsCanBeBound() {
		for (Class<?> type : List.of(RateLimitProperties.class, RateLimitProperties.Redis.Breaker.class,
				IdentityOptions.class, PolicyProperties.class, PolicyProperties.Limit.class,
				PolicyProperties.Rollout.class, UrlProperties.class)) {
			assertThat(RuntimeHintsPredicates.reflection()
				.onType(type)
				.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)).as(type.getName())
				.accepts(this.hints);
		}
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(DistributedRateLimiter.Config.class)
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)).accepts(this.hints);
	}

	@Test
	void endpointCanBeCalled() {
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(TypeReference.of("dev.ratelimit.actuate.RateLimitEndpoint"))
			.withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS)).accepts(this.hints);
	}

	@Test
	void filtersOfTheGatewayOnWebMvcCanBeCalledWhereThereIsOne() {
		assertThat(routeFilters()).accepts(this.hints);
		assertThat(routeFilters()).rejects(hints(new FilteredClassLoader(FilterSupplier.class)));
	}

	private static Predicate<RuntimeHints> routeFilters() {
		return RuntimeHintsPredicates.reflection()
			.onType(TypeReference.of("dev.ratelimit.gateway.RateLimitFilterFunctions"))
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS);
	}

	private static RuntimeHints hints() {
		return hints(RateLimitRuntimeHintsTests.class.getClassLoader());
	}

	/** As Spring finds them. */
	private static RuntimeHints hints(ClassLoader classes) {
		RuntimeHints hints = new RuntimeHints();
		AotServices.factories()
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter((registrar) -> registrar.getClass().getName().startsWith("dev.ratelimit."))
			.forEach((registrar) -> registrar.registerHints(hints, classes));
		return hints;
	}

	private static Stream<String> resources(String module, String folder) throws IOException {
		try (Stream<Path> files = Files.list(Path.of("..", module, "src", "main", "resources").resolve(folder))) {
			return files.filter(Files::isRegularFile)
				.map((file) -> folder + "/" + file.getFileName())
				.toList()
				.stream();
		}
	}

}
