package dev.ratelimit.counter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys of counters whose values are hashed with a salt.
 */
class HashedKeysTests {

	private static final Duration ROTATE = Duration.ofDays(1);

	private static final Limit PER_IP = Limit.of("per-ip", List.of(Dimension.IP), "5/m");

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "5/m");

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "5/m");

	private final AtomicLong millis = new AtomicLong(20_000 * ROTATE.toMillis() + ROTATE.toMillis() / 2);

	private final CounterKeys plain = new CounterKeys("rl");

	private final CounterKeys keys = keys("one", Dimension.IP);

	@Test
	void keyOfAnIpCannotBeFoundWithoutTheSalt() {
		String key = key(this.keys, PER_IP, "198.51.100.7");
		assertThat(key).hasSize(27).matches("rl:3g:\\{[A-Za-z0-9_-]{3}}[A-Za-z0-9_-]{16}");
		assertThat(key).isEqualTo(key(keys("one", Dimension.IP), PER_IP, "198.51.100.7"));
		assertThat(key).isNotEqualTo(key(keys("other", Dimension.IP), PER_IP, "198.51.100.7"));
		assertThat(key).isNotEqualTo(key(this.plain, PER_IP, "198.51.100.7"));
	}

	@Test
	void keyNeverChangesFromOneReleaseToTheNext() {
		assertThat(key(this.keys, PER_IP, "198.51.100.7")).isEqualTo("rl:3g:{5cK}5cKb67UuHGWywnB5");
	}

	@Test
	void whatIsNotHashedKeepsItsKey() {
		assertThat(key(this.keys, PER_USER, "acme", "ann")).isEqualTo(key(this.plain, PER_USER, "acme", "ann"));
		assertThat(key(this.keys, PER_TENANT, "acme")).isEqualTo(key(this.plain, PER_TENANT, "acme"));
	}

	@Test
	void usersAreHashedWhereThatIsSaidAndKeepTheirTenantsTag() {
		String hashed = key(keys("one", Dimension.IP, Dimension.USER), PER_USER, "acme", "ann");
		String before = key(this.plain, PER_USER, "acme", "ann");
		assertThat(hashed).isNotEqualTo(before);
		assertThat(tag(hashed)).isEqualTo(tag(before));
	}

	@Test
	void ipInPlaceOfATenantIsHashedInTheTagToo() {
		String value = CounterKeys.inPlace("198.51.100.7");
		assertThat(tag(key(this.keys, PER_TENANT, value))).isNotEqualTo(tag(key(this.plain, PER_TENANT, value)));
		assertThat(key(keys("one", Dimension.USER), PER_TENANT, value)).isEqualTo(key(this.plain, PER_TENANT, value));
	}

	@Test
	void counterIsAnotherOneInTheNextEpoch() {
		Counter before = counters(PER_IP).get(0);
		this.millis.addAndGet(ROTATE.toMillis());
		Counter after = counters(PER_IP).get(0);
		assertThat(after).isNotEqualTo(before);
		assertThat(after.key()).isNotEqualTo(before.key());
		assertThat(after.part(1, 2).key()).isNotEqualTo(before.part(1, 2).key());
		assertThat(tag(after.key())).isNotEqualTo(tag(before.key()));
	}

	@Test
	void hashCodeIsTheSameInEveryInstance() {
		assertThat(counters(PER_IP).get(0).hashCode()).isEqualTo(new Counter(new CounterSpec(Algorithm.GCRA, PER_IP),
				keys("other", Dimension.IP), "orders", List.of("198.51.100.7"))
			.hashCode());
	}

	@Test
	void bothCountersAreThereForTwoWindowsAndAMinuteAfterTheTurn() {
		this.millis.set(20_000 * ROTATE.toMillis() - 1);
		List<Counter> before = counters(PER_IP);
		assertThat(before).hasSize(1);
		this.millis.incrementAndGet();
		List<Counter> turned = counters(PER_IP);
		assertThat(turned).hasSize(2).element(1).isEqualTo(before.get(0));
		assertThat(turned.get(1).key()).isEqualTo(before.get(0).key());
		this.millis.addAndGet(Duration.ofMinutes(3).toMillis() - 1);
		assertThat(counters(PER_IP)).isEqualTo(turned);
		this.millis.incrementAndGet();
		assertThat(counters(PER_IP)).containsExactly(turned.get(0));
	}

	@Test
	void counterWithoutHashedValuesIsThereOnce() {
		this.millis.set(20_000 * ROTATE.toMillis());
		assertThat(counters(PER_TENANT)).hasSize(1);
	}

	private CounterKeys keys(String salt, Dimension... hashed) {
		return new CounterKeys("rl", Set.of(hashed), new Epochs(Salt.of(salt), ROTATE, this.millis::get));
	}

	private List<Counter> counters(Limit limit) {
		List<Counter> counters = new ArrayList<>();
		this.keys.add(new CounterSpec(Algorithm.GCRA, limit), "orders", List.of("198.51.100.7"), counters);
		return counters;
	}

	private static String key(CounterKeys keys, Limit limit, String... values) {
		return keys.key("orders", Algorithm.GCRA, limit, List.of(values));
	}

	private static String tag(String key) {
		return key.substring(key.indexOf('{'), key.indexOf('}'));
	}

}
