package dev.ratelimit.web;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class CostPatternsTests {

	private static final CostPatterns COSTS = CostPatterns.of(policy().cost("/orders/export/**", 10)
		.cost("/orders/export/small", 3)
		.cost("/orders/{id}/report", 5)
		.cost("/health/**", 0)
		.cost("/a", 7)
		.cost("/ü b", 8)
		.build());

	@Test
	void withoutAPatternItCostsOne() {
		assertThat(COSTS.cost("/orders")).isEqualTo(1);
		assertThat(CostPatterns.of(policy().build()).cost("/orders/export")).isEqualTo(1);
	}

	@Test
	void theMostSpecificPatternDecides() {
		assertThat(COSTS.cost("/orders/export/all")).isEqualTo(10);
		assertThat(COSTS.cost("/orders/export/small")).isEqualTo(3);
		assertThat(COSTS.cost("/orders/4711/report")).isEqualTo(5);
		assertThat(COSTS.cost("/health/live")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/a", "//a", "/a/", "///a//", "/%61", "/a;x=1", "/a;", "/;x=1/a;y=2/", "/./a", "/a/.",
			"/b/../a", "/%2e/a", "/b/%2e%2e/a", "/b/%2E./a", "/b/.%2e/a/", "/../a", "/..;/a", "/b/..;x=1/a", "/%2Fa",
			"%2fa", "a", "/a%2F", "/a%3Bx=1", "/./%61//", "/b%2F..%2Fa", "/a%5c", "/a\\", "\\a", "/b\\..\\a",
			"/b%5C..%5ca", "/b\\..%5ca" })
	void everySpellingOfAPathCostsTheSame(String path) {
		assertThat(COSTS.cost(path)).isEqualTo(7);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders/export%2Fall", "/orders%2fexport/all", "/orders/export/../x",
			"/orders/export/..%2F..%2Fcheap", "/orders/export/..%2f..%2f..%2fhealth%2flive",
			"/orders/export/../../health", "/health/../orders/export", "/health%2F..%2Forders/export/all",
			"/a%2Fb/../orders/export/all", "/x/y%2Fz/../../orders/export" })
	void aPathWithSeveralReadingsCostsAsMuchAsTheDearest(String path) {
		assertThat(COSTS.cost(path)).isEqualTo(10);
	}

	/** An upstream without path parameters sees them as text. */
	@ParameterizedTest
	@ValueSource(strings = { "/search/;foo", "/search/%3Bfoo", "/x/../search/;foo", "/x%2F..%2Fsearch/;foo",
			"/search;/x", "/files/x;.zip", "/y/../files/x;.zip" })
	void pathParametersAreAlsoReadAsText(String path) {
		CostPatterns costs = CostPatterns.of(policy().cost("/search/{query}", 7).cost("/files/*.zip", 7).build());
		assertThat(costs.cost(path)).isEqualTo(7);
	}

	/** RFC 3986 and WHATWG remove one segment for two dots, also if it is empty. */
	@ParameterizedTest
	@ValueSource(strings = { "/login//../attempt", "/login/;x/../attempt", "/login%2F%2F..%2Fattempt",
			"/login//%2e%2e/attempt", "/login\\\\..\\attempt", "/login///../../attempt" })
	void dotsAreAlsoResolvedWithEmptySegments(String path) {
		CostPatterns costs = CostPatterns.of(policy().cost("/login/attempt", 7).build());
		assertThat(costs.cost(path)).isEqualTo(7);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/A", "/%41", "/a.", "/.a", "/a%20", "/a%00", "/%2561", "/a%", "/%6", "/%zz", "/aa", "",
			"/", "*", "/..", "/%c0%ae/b", "/a%255c" })
	void anotherPathIsNotTheSame(String path) {
		assertThat(COSTS.cost(path)).isEqualTo(1);
	}

	@Test
	void patternsAreWrittenDecoded() {
		assertThat(COSTS.cost("/%C3%BC%20b")).isEqualTo(8);
		assertThat(COSTS.cost("/ü%20b")).isEqualTo(8);
	}

	@Test
	void trailingSlashOfAPatternIsIgnoredToo() {
		CostPatterns costs = CostPatterns.of(policy().cost("/a/", 7).cost("/", 2).build());
		assertThat(costs.cost("/a")).isEqualTo(7);
		assertThat(costs.cost("/a/")).isEqualTo(7);
		assertThat(costs.cost("/")).isEqualTo(2);
		assertThat(costs.cost("/x/..")).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/a", "/..", "/%2e%2e", ";", "%", "/;", "%2f", "\\", "/%5c..;" })
	void hugePathsAreReadInPassing(String part) {
		String path = "/" + part.repeat((1 << 20) / part.length());
		assertTimeoutPreemptively(Duration.ofSeconds(10), () -> COSTS.cost(path));
	}

	@ParameterizedTest
	@CsvSource({ "'/orders/{id', 'not a path pattern'", "'/orders/{id}/{id}', 'not a path pattern'",
			"'/**/x/{*rest}/y', 'not a path pattern'", "'ordersexport', 'in brackets'", "'', 'in brackets'" })
	void whatIsNoPatternIsRefusedWithAFix(String pattern, String fix) {
		Policy policy = policy().cost(pattern, 2).build();
		assertThatIllegalArgumentException().isThrownBy(() -> PathCosts.validate(policy))
			.withMessageContaining("policy 'orders', cost of '" + pattern + "'")
			.withMessageContaining(fix)
			.withMessageContaining("for example");
	}

	@ParameterizedTest
	@CsvSource({ "/a%20b, write /a b instead of /a%20b", "/search?q=x, write /search instead of /search?q=x" })
	void patternThatNoReadingCanMatchIsRefusedWithAFix(String pattern, String fix) {
		Policy policy = policy().cost(pattern, 2).build();
		assertThatIllegalArgumentException().isThrownBy(() -> PathCosts.validate(policy))
			.withMessageContaining("policy 'orders', cost of '" + pattern + "'")
			.withMessageContaining(fix);
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 90_000_001 })
	void whatIsNoCostIsRefused(long cost) {
		Policy policy = policy().cost("/orders", cost).build();
		assertThatIllegalArgumentException().isThrownBy(() -> PathCosts.validate(policy))
			.withMessageContaining("policy 'orders', cost of '/orders'")
			.withMessageContaining("0 to 90000000");
	}

	@Test
	void validPoliciesPass() {
		PathCosts.validate(policy().cost("/orders/{id:[0-9]+}/*", 2).cost("/{*all}", 0).build());
	}

	private static PolicyBuilder policy() {
		return Policy.builder("orders").limit("per-user", List.of(Dimension.USER), "100/s");
	}

}
