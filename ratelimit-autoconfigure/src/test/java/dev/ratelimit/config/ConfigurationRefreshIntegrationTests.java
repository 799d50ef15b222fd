package dev.ratelimit.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static dev.ratelimit.autoconfigure.ControlPlaneIntegrationTests.limits;
import static dev.ratelimit.config.ConfigurationRefreshTests.config;
import static dev.ratelimit.config.ConfigurationRefreshTests.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A changed {@code application.yml} below what is edited at run time.
 */
@ExtendWith(RedisServers.class)
class ConfigurationRefreshIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	@TempDir
	private Path folder;

	@Test
	void reloadIsInTheAuditTrailWithoutTheCallersItNames(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			application.refresh(config(
					policy("orders", "20/h")
							+ "      overrides: [{ when: { tenant: acme }, limits: { per-tenant: 30/h } }]\n",
					policy("login", "5/m")) + "  deny: [{ tenant: globex }]\n");
			application.refresh(config(policy("orders", "0/h")));
			await().atMost(Duration.ofMinutes(1)).until(() -> audited(application).size() == 6);
			List<AuditRecord> entries = audited(application);
			assertThat(entries).extracting(AuditRecord::action).containsOnly("config-reload");
			assertThat(entries).extracting((entry) -> entry.target() + " " + entry.outcome())
				.containsExactly("policy login done", "policy orders done", "list deny done", "policy login done",
						"list deny done", "policy orders invalid");
			assertThat(entries.get(1).before()).contains("10/h");
			assertThat(entries.get(1).after()).contains("20/h").endsWith(" and other overrides");
			assertThat(entries.get(3).after()).isEmpty();
			assertThat(entries.toString()).doesNotContain("acme", "globex");
		}
	}

	@Test
	void configuredPolicyThatDoesNotFitTheOverridesIsAuditedOnceAsInvalid(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			for (int window = 1; window <= 8; window++) {
				join(application.context()
					.getBean(ControlPlane.class)
					.write(new Change(RecordIds.override("orders", Dimension.TENANT, "of-" + window),
							Map.of("limits", Map.of("per-tenant", "5/" + window + "s")), null), ANN));
			}
			await().until(() -> application.policies().records().size() == 8);
			application.refresh(config(policy("orders", "[10/h, 20/d]")));
			application.refresh(config(policy("orders", "[10/h, 20/d]"), policy("login", "5/m")));
			await().until(() -> audited(application).size() == 2);
			assertThat(audited(application)).extracting((entry) -> entry.target() + " " + entry.outcome())
				.containsExactly("policy orders invalid", "policy login done");
			assertThat(application.live().rejected()).hasSize(1);
		}
	}

	@Test
	void reloadOfSeveralInstancesIsAuditedOnceForEachChange(RedisServer redis) {
		try (RefreshedApplication one = start(redis, "one");
				RefreshedApplication two = start(redis, "two");
				RefreshedApplication three = start(redis, "three")) {
			List<RefreshedApplication> fleet = List.of(one, two, three);
			for (String quota : List.of("20/h", "10/h", "20/h")) {
				fleet.forEach((instance) -> instance.refresh(config(policy("orders", quota))));
			}
			three.refresh(config(policy("orders", "30/h")));
			// Entries of an instance are added in their order.
			fleet.forEach((instance) -> instance.context()
				.getBean(Audit.class)
				.record(new Audit.Entry("end", Audit.Outcome.DONE, "ann", "", "", "", "")));
			await().atMost(Duration.ofMinutes(1))
				.until(() -> audited(one).stream().filter((entry) -> entry.action().equals("end")).count() == 3);
			assertThat(audited(one)).filteredOn((entry) -> entry.action().equals("config-reload"))
				.extracting((entry) -> entry.after().replaceAll(".*\"(\\d+/h)\".*", "$1"))
				.containsExactlyInAnyOrder("20/h", "10/h", "20/h", "30/h");
		}
	}

	@Test
	void reloadWithoutAChangeIsNotAudited(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			application.refresh(config(policy("orders", "10/h")));
			application.refresh(config(policy("orders", "20/h")));
			await().atMost(Duration.ofMinutes(1)).until(() -> !audited(application).isEmpty());
			assertThat(audited(application)).extracting(AuditRecord::before)
				.singleElement()
				.asString()
				.contains("10/h");
		}
	}

	@Test
	void versionOfTheStoreStaysAboveTheConfigurationUntilItIsDeleted(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			write(application, "orders", "77/h");
			application.refresh(config(policy("orders", "20/h")));
			assertThat(permits(application, "orders")).isEqualTo(77);
			assertThat(application.live().configured("orders").limits().get(0).quotas().get(0).permits()).isEqualTo(20);
			delete(application, "orders");
			await().until(() -> permits(application, "orders") == 20);
			assertThat(application.policies().find("orders").version()).isZero();
		}
	}

	@Test
	void policyThatIsTakenOutOfTheConfigurationGoesOnInTheVersionOfTheStore(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			write(application, "orders", "77/h");
			application.refresh(config(policy("login", "5/h")));
			assertThat(application.policies().find("orders").version()).isOne();
			assertThat(application.policies().retired()).isEmpty();
			delete(application, "orders");
			await().until(() -> application.policies().retired().contains("orders"));
			assertThat(application.check(ACME.withCost(78)).outcome()).isEqualTo(Decision.Outcome.REFUSED);
			application.refresh(config(policy("orders", "20/h")));
			assertThat(application.policies().find("orders").version()).isZero();
			assertThat(permits(application, "orders")).isEqualTo(20);
		}
	}

	@Test
	void versionThatIsBroughtInBesideTheConfigurationKeepsTheOneItWasWrittenBeside(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			join(application.context()
				.getBean(ControlPlane.class)
				.writePolicy("orders", Map.of("mode", "shadow", "limits",
						Map.of("per-tenant", Map.of("by", "tenant", "quota", "77/h"))), null, ANN));
			await().until(() -> application.policies().versions("orders").size() == 2);
			application.refresh(config(policy("orders", "20/h")));
			assertThat(application.policies().versions("orders")).hasSize(2);
			assertThat(permits(application, "orders")).isEqualTo(10);
			delete(application, "orders");
			await().until(() -> permits(application, "orders") == 20);
		}
	}

	@Test
	void recordsAboutCallersStayAndAreAppliedToTheNewConfiguration(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			ControlPlane plane = application.context().getBean(ControlPlane.class);
			join(plane.write(new Change(RecordIds.override("orders", Dimension.TENANT, "acme"),
					Map.of("limits", Map.of("per-tenant", "99/h")), null), ANN));
			join(plane.write(new Change(RecordIds.entry(Kind.DENY, Map.of(Dimension.TENANT, "globex")), Map.of(), null),
					ANN));
			Request globex = ACME.with(Dimension.TENANT, "globex");
			await().until(() -> permits(application, "orders") == 99
					&& application.check(globex).outcome() == Decision.Outcome.DENIED);
			application.refresh(config(policy("orders", "20/h")) + "  deny: [{ tenant: initech }]\n");
			assertThat(permits(application, "orders")).isEqualTo(99);
			assertThat(application.check(globex).outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "initech")).outcome())
				.isEqualTo(Decision.Outcome.DENIED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "other")).limits().get(0).quota().permits())
				.isEqualTo(20);
		}
	}

	@Test
	void mistakesInTheStoreAndInTheConfigurationAreBothShownAndTheGoodOnesHold(RedisServer redis) {
		try (RefreshedApplication application = start(redis)) {
			write(application, "orders", "77/h");
			join(application.context()
				.getBean(PolicyStore.class)
				.write(List.of(new Edit(RecordIds.policy("orders"), "no JSON", null)), Seen.NOTHING, "mallory", ""));
			await().until(() -> application.live().rejected().size() == 1);
			application.refresh(config(policy("orders", "0/h")));
			assertThat(application.live().rejected()).extracting(Rejected::version).containsExactlyInAnyOrder(2L, 0L);
			assertThat(permits(application, "orders")).isEqualTo(77);
			delete(application, "orders");
			await().until(() -> permits(application, "orders") == 10);
			assertThat(application.live().rejected()).extracting(Rejected::version).containsExactly(0L);
		}
	}

	/** The trail, the oldest first. */
	private static List<AuditRecord> audited(RefreshedApplication application) {
		List<AuditRecord> entries = new ArrayList<>();
		join(application.context().getBean(PolicyStore.class).audit(null, 100))
			.forEach((entry) -> entries.add(0, entry.attempt()));
		return entries;
	}

	private RefreshedApplication start(RedisServer redis) {
		return start(redis, "");
	}

	private RefreshedApplication start(RedisServer redis, String folder) {
		return RefreshedApplication.start(this.folder.resolve(folder), config(policy("orders", "10/h")),
				"spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
				"ratelimit.redis.timeout=2s");
	}

	private static void write(RefreshedApplication application, String id, String quota) {
		join(application.context().getBean(ControlPlane.class).writePolicy(id, limits(quota), null, ANN));
		await().atMost(Duration.ofSeconds(30)).until(() -> application.policies().find(id).version() > 0);
	}

	private static void delete(RefreshedApplication application, String id) {
		join(application.context().getBean(ControlPlane.class).deletePolicy(id, null, false, ANN));
	}

	private static long permits(RefreshedApplication application, String id) {
		return application.policies()
			.match(Request.of(id).with(Dimension.TENANT, "acme"))
			.specs()
			.get(0)
			.limit()
			.quotas()
			.get(0)
			.permits();
	}

}
