package dev.ratelimit.urls;

import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitUrlsAutoConfiguration;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.config.StartupFailures;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HeaderOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a mistake in {@code ratelimit.urls} does to the start, on both stacks.
 */
@ExtendWith(OutputCaptureExtension.class)
class UrlConfigurationTests {

	private static final AutoConfigurations PARTS = AutoConfigurations.of(RateLimitAutoConfiguration.class,
			RateLimitUrlsAutoConfiguration.class);

	private static final String[] POLICY = { "ratelimit.policies.api.limits.per-user.by=user",
			"ratelimit.policies.api.limits.per-user.quota=3/h", "ratelimit.policies.address.limits.per-ip.by=ip",
			"ratelimit.policies.address.limits.per-ip.quota=3/h" };

	private final WebApplicationContextRunner servlet = new WebApplicationContextRunner().withConfiguration(PARTS)
		.withPropertyValues(POLICY);

	private final ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
		.withConfiguration(PARTS)
		.withPropertyValues(POLICY);

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"policy=api | URL entry 'writes' has no path. | Set 'ratelimit.urls.writes.path' to a pattern such as /api/**.",
			"path=/api | URL entry 'writes' names no policy. | 'ratelimit.urls.writes.policy'",
			"path=api,policy=api | URL entry 'writes', path 'api': a path pattern starts with a slash | 'ratelimit.urls.writes.path'",
			"path=/{a,policy=api | URL entry 'writes', path '/{a': not a path pattern | 'ratelimit.urls.writes.path'",
			"path=/**/a/**/{*b}/c,policy=api | URL entry 'writes', path '/**/a/**/{*b}/c': not a path pattern | /orders/{id}",
			"path=/a%20b/**,policy=api | paths are compared decoded and without empty segments, write /a b/** instead of /a%20b/** | 'ratelimit.urls.writes.path'",
			"path=/%C3%BCber/{id:%41},policy=api | write /über/{id:%41} instead of | 'ratelimit.urls.writes.path'",
			"path=/100%25/%2A,policy=api | write /100%/? instead of | 'ratelimit.urls.writes.path'",
			"path=/api//x,policy=api | write /api/x instead of /api//x | 'ratelimit.urls.writes.path'",
			"path=//,policy=api | write / instead of // | 'ratelimit.urls.writes.path'",
			"path=/search?q=x,policy=api | a path has no query string, write /search instead of /search?q=x | 'ratelimit.urls.writes.path'",
			"path=/api,policy=api,cost=-1 | the cost must be 0 to 90000000 but was -1 | 'ratelimit.urls.writes.cost'",
			"path=/api,policy=api,cost=90000001 | the cost must be 0 to 90000000 | 'ratelimit.urls.writes.cost'",
			"path=/api,policy=api,methods=PSOT | names method 'PSOT', which does not exist. | Did you mean 'POST'?",
			"path=/api,policy=aip | 'ratelimit.urls.writes.policy' names policy 'aip', which does not exist. | Did you mean 'api'?",
			"path=/api,policy=api,before-authentication=true | Limit 'per-user' of policy 'api' counts by user, which is not known before authentication, when URL entry 'writes' is checked. | 'ratelimit.urls.writes.before-authentication' to false" })
	void mistakeFailsTheStartWithAFix(String entry, String problem, String fix) {
		String[] properties = Arrays.stream(entry.split(","))
			.map((setting) -> "ratelimit.urls.writes." + setting)
			.toArray(String[]::new);
		this.servlet.withPropertyValues(properties)
			.run((context) -> requireFailure(context.getStartupFailure(), problem, fix));
		this.reactive.withPropertyValues(properties)
			.run((context) -> requireFailure(context.getStartupFailure(), problem, fix));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/a%2fb", "/a%2Fb", "/t?st", "/a=b", "/{id:a?=b}", "/{id:[0-9]{2}}/x", "/a b", "/100%",
			"/a;v=1" })
	void patternThatAReadingCanMatchIsAccepted(String path) {
		this.servlet.withPropertyValues("ratelimit.urls.writes.path=" + path, "ratelimit.urls.writes.policy=api")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "/a%20b | write /a b instead of /a%20b",
			"/a%2fb | write /a%2Fb instead of /a%2fb", "/api//x | write /api/x" })
	void costOfAPathThatNoReadingCanBeFailsTheStart(String path, String problem) {
		this.servlet.withPropertyValues("ratelimit.policies.api.costs[" + path + "]=2")
			.run((context) -> requireFailure(context.getStartupFailure(), problem, ""));
	}

	private static void requireFailure(Throwable failure, String problem, String fix) {
		FailureAnalysis analysis = StartupFailures.analyze(failure);
		assertThat(analysis).as(String.valueOf(failure)).isNotNull();
		assertThat(analysis.getDescription()).contains(problem);
		assertThat(analysis.getAction()).contains(fix);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"user.claim=org | Dimension 'user' is built in. | Give 'ratelimit.dimensions.user' another name.",
			"key.claim=org | Dimension 'key' is built in. | Give 'ratelimit.dimensions.key' another name.",
			"o_g.claim=org | a name is 1 to 32 lower-case letters | Rename 'ratelimit.dimensions.",
			"org.claim=a,org.header=b | Dimension 'org' must have exactly one source but has 2. | Set one of 'ratelimit.dimensions.org.claim'",
			"org.host=false | Dimension 'org' must have exactly one source but has 0. | Set one of 'ratelimit.dimensions.org.claim'",
			"org.claim= | Dimension 'org' must have exactly one source but has 1 without a name. | to a name",
			"account.claim=org | Dimension 'account' is declared and has a DimensionResolver bean. | Remove 'ratelimit.dimensions.account' or the bean." })
	void mistakeInADimensionFailsTheStartWithAFix(String dimension, String problem, String fix) {
		this.servlet
			.withPropertyValues(Arrays.stream(dimension.split(","))
				.map((setting) -> "ratelimit.dimensions." + setting)
				.toArray(String[]::new))
			.withBean("account", DimensionResolver.class, () -> (call) -> null)
			.run((context) -> requireFailure(context.getStartupFailure(), problem, fix));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"headers.style=legacy,none | 'ratelimit.headers.style' is [LEGACY, NONE], which is no valid list. | or to none alone",
			"headers.style= | 'ratelimit.headers.style' is [], which is no valid list. | one or more of both, legacy, draft and separate",
			"identity.api-key-tiers[sk_*]= | has an entry without a pattern or without a tier | \"[sk_prod_*]\": pro" })
	void mistakeInHeadersOrKeyTiersFailsTheStartWithAFix(String property, String problem, String fix) {
		this.servlet.withPropertyValues("ratelimit." + property)
			.run((context) -> requireFailure(context.getStartupFailure(), problem, fix));
	}

	@Test
	void stylesOfHeadersAreAList() {
		this.servlet.withPropertyValues("ratelimit.headers.style=separate,draft")
			.run((context) -> assertThat(context.getBean(RateLimitProperties.class).headers().style())
				.containsExactly(HeaderOptions.Style.SEPARATE, HeaderOptions.Style.DRAFT));
	}

	@Test
	void tierOfKeysThatNoPolicyHasIsAWarning(CapturedOutput output) {
		this.servlet.withPropertyValues("ratelimit.identity.api-key-tiers[sk_*]=pro").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output)
				.contains("'ratelimit.identity.api-key-tiers' names tier 'pro', which no configured policy has");
		});
	}

	@Test
	void policyThatIsEscapedByChosenValuesIsAWarning(CapturedOutput output) {
		this.servlet
			.withPropertyValues("ratelimit.dimensions.host.host=true",
					"ratelimit.policies.api.limits.per-user.by=ip,host")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("Every limit of policy 'api' counts by a value that callers choose (host)");
			});
	}

	@Test
	void costThatNeverFitsIsAWarning(CapturedOutput output) {
		this.servlet
			.withPropertyValues("ratelimit.urls.writes.path=/api", "ratelimit.urls.writes.policy=api",
					"ratelimit.urls.writes.cost=4")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output)
					.contains("URL entry 'writes' costs 4 permits, but policy 'api' never has more than 3");
			});
	}

	@Test
	void withoutPathsEntriesAreAWarning(CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(PARTS)
			.withPropertyValues(POLICY)
			.withPropertyValues("ratelimit.urls.writes.path=/api", "ratelimit.urls.writes.policy=api")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("'ratelimit.urls' has no effect: this is not a web application");
			});
	}

	@Test
	void entryIsAUseOfItsPolicy() {
		this.servlet.withPropertyValues("ratelimit.urls.writes.path=/api", "ratelimit.urls.writes.policy=api")
			.run((context) -> {
				PolicyUses uses = context.getBean(PolicyUses.class);
				assertThat(uses.of("api")).containsExactly("URL entry 'writes'");
				assertThat(uses.of("address")).isEmpty();
			});
	}

}
