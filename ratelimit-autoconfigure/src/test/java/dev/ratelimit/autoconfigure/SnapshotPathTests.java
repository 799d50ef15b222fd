package dev.ratelimit.autoconfigure;

import java.nio.file.Path;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.env.MockEnvironment;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.store.PolicyStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class SnapshotPathTests {

	private final MockEnvironment environment = new MockEnvironment().withProperty("user.home", "/home/ann")
		.withProperty("spring.application.name", "shop")
		.withProperty("server.port", "8080");

	@Test
	void fileIsAmongTheStateFilesOfTheUser() {
		assertThat(auto("redis:6379/0", "rl")).hasParentRaw(Path.of("/home/ann/.local/state/ratelimit"))
			.asString()
			.matches(".*/shop-8080-redis_6379_0-rl-[0-9a-f]{8}\\.snapshot");
	}

	@Test
	void xdgStateHomeMovesItUnlessItIsRelative() {
		this.environment.setProperty("XDG_STATE_HOME", "/var/state");
		assertThat(auto("redis:6379/0", "rl")).hasParentRaw(Path.of("/var/state/ratelimit"));
		this.environment.setProperty("XDG_STATE_HOME", "state");
		assertThat(auto("redis:6379/0", "rl")).hasParentRaw(Path.of("/home/ann/.local/state/ratelimit"));
	}

	@Test
	void portThatTheSystemChoosesIsLeftOutAndSoIsNone() {
		this.environment.setProperty("server.port", "0");
		Path chosen = auto("redis:6379/0", "rl");
		assertThat(chosen.getFileName().toString()).startsWith("shop-redis_6379_0-rl-");
		assertThat(SnapshotPath.of("auto", without("server.port"), "redis:6379/0", "rl")).isEqualTo(chosen);
		this.environment.setProperty("server.port", "-1");
		assertThat(auto("redis:6379/0", "rl")).isEqualTo(chosen);
	}

	@Test
	void applicationPortStoreAndPrefixEachHaveAFileOfTheirOwn() {
		Path first = auto("redis:6379/0", "rl");
		assertThat(Stream.of(auto("redis:6379/1", "rl"), auto("redis:6379/0", "rl2"), auto("redis_6379/0", "rl")))
			.doesNotContain(first)
			.doesNotHaveDuplicates();
		this.environment.setProperty("server.port", "8081");
		assertThat(auto("redis:6379/0", "rl")).isNotEqualTo(first);
		this.environment.setProperty("server.port", "8080");
		this.environment.setProperty("spring.application.name", "search");
		assertThat(auto("redis:6379/0", "rl")).isNotEqualTo(first);
	}

	@Test
	void nameFitsAFileSystemHoweverLongTheStoreIs() {
		Path file = auto("node-1.example.com:6379,".repeat(100), "rl");
		assertThat(file.getFileName().toString().length()).isLessThan(200);
		assertThat(auto("node-1.example.com:6379,".repeat(101), "rl")).isNotEqualTo(file);
	}

	@Test
	void pathIsTakenAsItIsAndNoneIsNone() {
		assertThat(SnapshotPath.of("/data/policies", this.environment, "redis", "rl"))
			.isEqualTo(Path.of("/data/policies"));
		assertThat(SnapshotPath.of("none", this.environment, "redis", "rl")).isNull();
		assertThat(SnapshotPath.of("", this.environment, "redis", "rl")).isNull();
	}

	@Test
	void userWithoutAHomeIsToldTheSetting(CapturedOutput output) {
		this.environment.setProperty("user.home", "?");
		assertThat(SnapshotPath.of("auto", this.environment, "redis", "rl")).isNull();
		assertThat(output).containsOnlyOnce("Set ratelimit.policies-store.snapshot-file to a path, or to none");
	}

	@Test
	void homeThatIsNotAPathIsAsGoodAsNone(CapturedOutput output) {
		this.environment.setProperty("user.home", "/home/\0");
		assertThat(SnapshotPath.of("auto", this.environment, "redis", "rl")).isNull();
		assertThat(output).containsOnlyOnce("The home directory of this user is unknown: there is no snapshot file");
		this.environment.setProperty("user.home", "/home/ann");
		this.environment.setProperty("XDG_STATE_HOME", "/state/\0");
		assertThat(auto("redis:6379/0", "rl")).hasParentRaw(Path.of("/home/ann/.local/state/ratelimit"));
	}

	@Test
	void storeWithoutAKnownAddressHasNoFileUnlessItIsNamed(CapturedOutput output) {
		assertThat(SnapshotPath.of("none", this.environment, "", "rl")).isNull();
		assertThat(SnapshotPath.of("/data/policies", this.environment, "", "rl")).isEqualTo(Path.of("/data/policies"));
		assertThat(output).doesNotContain("snapshot");
		assertThat(SnapshotPath.of("auto", this.environment, "", "rl")).isNull();
		assertThat(output).containsOnlyOnce("The address of the policy store is unknown: there is no snapshot file")
			.contains("Set ratelimit.policies-store.snapshot-file to a path, or to none");
	}

	@Test
	void storeOfTheApplicationItselfHasNoFile(CapturedOutput output, @TempDir Path folder) {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitControlAutoConfiguration.class))
			.withBean(PolicyStore.class, TimedStore::new)
			.withPropertyValues("ratelimit.policies-store.snapshot-file=auto", "XDG_STATE_HOME=" + folder)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("The address of the policy store is unknown: there is no snapshot file");
		assertThat(folder).isEmptyDirectory();
	}

	@Test
	void whatIsNotAPathIsExplained() {
		assertThatExceptionOfType(InvalidPolicyException.class)
			.isThrownBy(() -> SnapshotPath.of("a\0b", this.environment, "redis", "rl"))
			.withMessageContaining("'ratelimit.policies-store.snapshot-file' is not a path");
	}

	private Path auto(String store, String prefix) {
		Path path = SnapshotPath.of("auto", this.environment, store, prefix);
		assertThat(path).isNotNull();
		return path;
	}

	private static MockEnvironment without(String property) {
		MockEnvironment environment = new MockEnvironment().withProperty("user.home", "/home/ann")
			.withProperty("spring.application.name", "shop");
		assertThat(environment.containsProperty(property)).isFalse();
		return environment;
	}

}
