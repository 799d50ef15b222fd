package dev.ratelimit.counter;

import java.util.HashSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class CounterKeysTests {

	private static final Limit PER_USER = limit("per-user", Dimension.USER);

	private static final Limit PER_TENANT = limit("per-tenant", Dimension.TENANT);

	private static final Limit PER_TENANT_USER = limit("per-tenant-user", Dimension.TENANT, Dimension.USER);

	private final CounterKeys keys = new CounterKeys("rl");

	@ParameterizedTest
	@ValueSource(strings = { "", "ann", ":", "{", "}", "{}", "}{", "a b", "\0", "\n", "ä", "\uD83D\uDE00", "\uD800",
			"\uDC00", "rl:3g:{x}y" })
	void keyIs43PrintableCharactersWhateverTheValue(String value) {
		assertThat(key(PER_USER, value)).hasSize(27).matches("rl:3g:\\{[A-Za-z0-9_-]{3}}[A-Za-z0-9_-]{16}");
		assertThat(key(PER_TENANT, value)).hasSize(27).matches("rl:3g:\\{[A-Za-z0-9_-]{3}}[A-Za-z0-9_-]{16}");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", "ann", "{", "}", "{}", "{}a", "a{b}c", "}{a}", "{a}{b}", "{a", "a}b{c}", "rl:3g:{x}y" })
	void slotOfACounterIsThatOfItsKey(String key) {
		assertThat(new Counter(new CounterSpec(Algorithm.GCRA, PER_USER), key).slot()).isEqualTo(SlotHash.getSlot(key));
	}

	@Test
	void everyCounterOfManyCallersHasTheSlotOfItsKey() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, PER_USER);
		for (int i = 0; i < 10_000; i++) {
			Counter counter = new Counter(spec, this.keys, "orders", List.of("user-" + i));
			assertThat(counter.slot()).isEqualTo(SlotHash.getSlot(counter.key()));
		}
	}

	@Test
	void callerThatComesAgainHasTheSameCounter() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, PER_USER);
		assertThat(added(spec, "orders", "ann")).isSameAs(added(spec, "orders", "ann"))
			.isEqualTo(new Counter(spec, this.keys, "orders", List.of("ann")));
	}

	@Test
	void counterOfAnotherCallerPolicyOrSpecIsNeverReused() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, PER_USER);
		CounterSpec other = new CounterSpec(Algorithm.GCRA, PER_USER);
		for (int i = 0; i < 20_000; i++) {
			String user = "user-" + i % 10_000;
			String key = key(PER_USER, user);
			assertThat(added(spec, "orders", user).key()).isEqualTo(key);
			assertThat(added(other, "orders", user).spec()).isSameAs(other);
			assertThat(added(spec, "other", user).policy()).isEqualTo("other");
		}
	}

	@Test
	void limitsThatCountByDifferentDimensionsHaveDifferentCounters() {
		Counter user = new Counter(new CounterSpec(Algorithm.GCRA, limit("all", Dimension.USER)), this.keys, "orders",
				List.of("acme"));
		Counter tenant = new Counter(new CounterSpec(Algorithm.GCRA, limit("all", Dimension.TENANT)), this.keys,
				"orders", List.of("acme"));
		assertThat(user).isNotEqualTo(tenant);
		assertThat(user.key()).isNotEqualTo(tenant.key());
	}

	@Test
	void keyOf64KilobytesIsNoLonger() {
		assertThat(key(PER_USER, "x".repeat(65_536))).hasSize(27);
		assertThat(key(PER_USER, "x".repeat(65_536))).isNotEqualTo(key(PER_USER, "x".repeat(65_537)));
	}

	@Test
	void longValueIsCountedByItsDigest() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, PER_USER);
		String value = "x".repeat(64 * 1024);
		Counter counter = added(spec, "orders", value);
		assertThat(added(spec, "orders", value)).isSameAs(counter);
		assertThat(added(spec, "orders", value + "y")).isNotEqualTo(counter);
		assertThat(counter.key()).isEqualTo(this.keys.key("orders", Algorithm.GCRA, PER_USER, List.of(value)));
		assertThat(counter).isEqualTo(new Counter(spec, this.keys, "orders", List.of(value)));
	}

	@Test
	void longValuesAreNotKeptInMemory() {
		assertThat(CounterKeys.shortened("x".repeat(128))).hasSize(128);
		assertThat(CounterKeys.shortened("x".repeat(129))).hasSizeLessThan(64);
		assertThat(CounterKeys.shortened(List.of("ann", "x".repeat(129)))).first().isEqualTo("ann");
	}

	@Test
	void longestPrefixMakes33Characters() {
		assertThat(new CounterKeys("eight-ch").key("orders", Algorithm.GCRA, PER_USER, List.of("ann"))).hasSize(33)
			.startsWith("eight-ch:");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nine-char", "RL", "r:l", "r{l", "r}l", "r l", "r\n" })
	void prefixThatCouldBreakAKeyIsRefused(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> new CounterKeys(prefix))
			.withMessage("key prefix '" + prefix + "': use 1 to 8 lower-case letters, digits and dashes");
	}

	@Test
	void keyIsTheSameForTheSameCounter() {
		assertThat(key(PER_USER, "ann")).isEqualTo(
				new CounterKeys("rl").key("orders", Algorithm.GCRA, limit("per-user", Dimension.USER), List.of("ann")));
	}

	@Test
	void keyNeverChangesFromOneReleaseToTheNext() {
		assertThat(key(PER_USER, "ann")).isEqualTo("rl:3g:{WCP}WCPCdjeB-KxV46oN");
		assertThat(key(PER_TENANT_USER, "acme", "ann")).isEqualTo("rl:3g:{e-F}h1dVrF9ubxRWArP7");
	}

	@Test
	void quotasDoNotChangeTheKey() {
		assertThat(key(PER_USER.withQuotas(Limit.of("x", List.of(), "7/d").quotas()), "ann"))
			.isEqualTo(key(PER_USER, "ann"));
	}

	@ParameterizedTest
	@EnumSource
	void eachAlgorithmHasKeysOfItsOwnOnTheSameSlot(Algorithm algorithm) {
		Set<String> others = new HashSet<>();
		for (Algorithm other : Algorithm.values()) {
			String key = this.keys.key("orders", other, PER_USER, List.of("ann"));
			assertThat(tag(key)).isEqualTo(tag(key(PER_USER, "ann")));
			if (other != algorithm) {
				others.add(key);
			}
		}
		assertThat(others).hasSize(4).doesNotContain(this.keys.key("orders", algorithm, PER_USER, List.of("ann")));
	}

	@Test
	void valuesThatJoinToTheSameTextHaveDifferentKeys() {
		assertThat(List.of(key(PER_TENANT_USER, "a", "bc"), key(PER_TENANT_USER, "ab", "c"),
				key(PER_TENANT_USER, "abc", ""), key(PER_TENANT_USER, "", "abc"), key(PER_TENANT_USER, "a:b", "c"),
				key(PER_TENANT_USER, "a", "b:c"), key(PER_TENANT_USER, "a\0", "bc"), key(PER_TENANT_USER, "a", "\0bc")))
			.doesNotHaveDuplicates();
	}

	@Test
	void lengthThatIsSpoofedInAValueChangesTheKey() {
		// What a reader of "length, text" pairs would see if lengths were not counted.
		assertThat(key(PER_TENANT_USER, "a", "b")).isNotEqualTo(key(PER_TENANT, "a\0\0\0\4user\0\0\0\1b"))
			.isNotEqualTo(key(PER_TENANT, "a\0\4user\0\1b"));
	}

	@Test
	void brokenSurrogatesAreNotTheSame() {
		assertThat(
				List.of(key(PER_USER, "\uD800"), key(PER_USER, "\uD801"), key(PER_USER, "\uDC00"), key(PER_USER, "?"),
						key(PER_USER, "\uFFFD"), key(PER_USER, "\uDC00\uD800"), key(PER_USER, "\uD800\uDC00")))
			.doesNotHaveDuplicates();
	}

	@Test
	void swappedValuesSwappedDimensionsAndOtherNamesHaveDifferentKeys() {
		Limit swapped = limit("per-tenant-user", Dimension.USER, Dimension.TENANT);
		Limit other = limit("per-tenant-user", Dimension.TENANT, Dimension.IP);
		assertThat(List.of(key(PER_TENANT_USER, "a", "b"), key(PER_TENANT_USER, "b", "a"), key(swapped, "a", "b"),
				key(swapped, "b", "a"), key(other, "a", "b"),
				key(limit("other", Dimension.TENANT, Dimension.USER), "a", "b"),
				this.keys.key("invoices", Algorithm.GCRA, PER_TENANT_USER, List.of("a", "b"))))
			.doesNotHaveDuplicates();
	}

	@Test
	void limitOfNoDimensionHasOneKey() {
		Limit global = limit("global");
		assertThat(key(global)).hasSize(27).isNotEqualTo(key(limit("other"))).isEqualTo(key(global));
	}

	@Test
	void allKeysOfATenantShareItsTag() {
		Limit last = limit("x", Dimension.ROUTE, Dimension.IP, Dimension.TENANT);
		String tag = tag(key(PER_TENANT, "acme"));
		assertThat(tag(key(PER_TENANT_USER, "acme", "ann"))).isEqualTo(tag);
		assertThat(tag(key(PER_TENANT_USER, "acme", "bob"))).isEqualTo(tag);
		assertThat(tag(key(last, "/orders", "10.0.0.1", "acme"))).isEqualTo(tag);
		assertThat(tag(this.keys.key("invoices", Algorithm.FIXED_WINDOW, PER_TENANT, List.of("acme")))).isEqualTo(tag);
		assertThat(tag(key(PER_TENANT, "acme2"))).isNotEqualTo(tag);
	}

	@Test
	void valueOfAnotherDimensionCannotChooseTheTenantsTag() {
		assertThat(tag(key(PER_TENANT_USER, "evil", "acme"))).isEqualTo(tag(key(PER_TENANT, "evil")))
			.isNotEqualTo(tag(key(PER_TENANT, "acme")));
		assertThat(tag(key(PER_USER, "acme"))).isNotEqualTo(tag(key(PER_TENANT, "acme")));
	}

	@Test
	void keyWithoutATenantIsTaggedByItself() {
		String key = key(PER_USER, "ann");
		assertThat(key.substring(key.indexOf('}') + 1)).startsWith(tag(key));
	}

	@Test
	void firstPartHasTheKeyOfTheCounterAndTheOthersOnesOfTheirOwn() {
		assertThat(part(PER_TENANT, 0, "acme")).isEqualTo(key(PER_TENANT, "acme"));
		assertThat(IntStream.range(0, 64).mapToObj((part) -> part(PER_TENANT, part, "acme"))).doesNotHaveDuplicates()
			.allSatisfy((key) -> assertThat(key).hasSize(27).matches("rl:3g:\\{[A-Za-z0-9_-]{3}}[A-Za-z0-9_-]{16}"));
	}

	@Test
	void keyOfAPartNeverChangesFromOneReleaseToTheNext() {
		assertThat(part(PER_TENANT, 1, "acme")).isEqualTo("rl:3g:{F_K}tGZQbJJIVV953lEv");
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 8, 16, 32, 64 })
	void slotsOfPartsAreEvenlySpread(int parts) {
		for (Limit limit : List.of(PER_TENANT, PER_USER)) {
			int[] slots = IntStream.range(0, parts)
				.map((part) -> SlotHash.getSlot(part(limit, part, "acme")))
				.sorted()
				.toArray();
			for (int i = 0; i < parts; i++) {
				assertThat(Math.floorMod(slots[(i + 1) % parts] - slots[i], 16_384)).isEqualTo(16_384 / parts);
			}
		}
	}

	@Test
	void failedCallDoesNotSpoilTheNextKey() {
		String key = key(PER_USER, "ann");
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> key(PER_USER, "ann", "one too many"));
		assertThat(key(PER_USER, "ann")).isEqualTo(key);
	}

	private Counter added(CounterSpec spec, String policy, String user) {
		List<Counter> counters = new ArrayList<>();
		this.keys.add(spec, policy, user, counters);
		return counters.get(0);
	}

	private String key(Limit limit, String... values) {
		return this.keys.key("orders", Algorithm.GCRA, limit, List.of(values));
	}

	private String part(Limit limit, int part, String... values) {
		return this.keys.key("orders", Algorithm.GCRA, limit, List.of(values), null, part);
	}

	static String tag(String key) {
		return key.substring(key.indexOf('{') + 1, key.indexOf('}'));
	}

	private static Limit limit(String name, Dimension... by) {
		return Limit.of(name, List.of(by), "10/s");
	}

}
