package dev.ratelimit.counter;

import java.util.List;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;

import static org.assertj.core.api.Assertions.assertThat;

@PropertyDefaults(tries = 1_000, edgeCases = EdgeCasesMode.NONE)
class CounterKeysPropertyTests {

	private final CounterKeys keys = new CounterKeys("rl");

	/**
	 * All that names a counter.
	 */
	record Name(String policy, String limit, List<Dimension> by, List<String> values) {
	}

	@Property
	void keyIs43PrintableCharacters(@ForAll("names") Name name) {
		assertThat(key(name)).matches("rl:3g:\\{[A-Za-z0-9_-]{3}}[A-Za-z0-9_-]{16}");
	}

	@Property
	void differentCountersHaveDifferentKeys(@ForAll("names") Name one, @ForAll("names") Name other) {
		assertThat(key(one).equals(key(other))).isEqualTo(one.equals(other));
	}

	@Property
	void charactersThatMoveToTheNeighbourChangeTheKey(@ForAll("hostile") String text,
			@ForAll @IntRange(max = 8) int one, @ForAll @IntRange(max = 8) int other) {
		int first = Math.min(one, text.length());
		int second = Math.min(other, text.length());
		Assume.that(first != second);
		List<Dimension> by = List.of(Dimension.TENANT, Dimension.USER);
		assertThat(key(new Name("p", "l", by, List.of(text.substring(0, first), text.substring(first)))))
			.isNotEqualTo(key(new Name("p", "l", by, List.of(text.substring(0, second), text.substring(second)))));
	}

	@Property
	void keysWithATenantShareItsTagAndOthersAreTaggedByThemselves(@ForAll("names") Name name,
			@ForAll("algorithms") Algorithm algorithm) {
		String key = this.keys.key(name.policy(), algorithm, Limit.of(name.limit(), name.by(), "10/s"), name.values());
		int tenant = name.by().indexOf(Dimension.TENANT);
		String tag = CounterKeysTests.tag(key);
		if (tenant >= 0) {
			String alone = key(new Name("p", "l", List.of(Dimension.TENANT), List.of(name.values().get(tenant))));
			assertThat(tag).isEqualTo(CounterKeysTests.tag(alone));
		}
		else {
			assertThat(key.substring(key.indexOf('}') + 1)).startsWith(tag);
		}
	}

	@Property
	void differentTenantsHaveDifferentTags(@ForAll("hostile") String one, @ForAll("hostile") String other) {
		List<Dimension> by = List.of(Dimension.TENANT);
		String tag = CounterKeysTests.tag(key(new Name("p", "l", by, List.of(one))));
		assertThat(tag.equals(CounterKeysTests.tag(key(new Name("p", "l", by, List.of(other))))))
			.isEqualTo(one.equals(other));
	}

	private String key(Name name) {
		return this.keys.key(name.policy(), Algorithm.GCRA, Limit.of(name.limit(), name.by(), "10/s"), name.values());
	}

	/** Few and short ones, so that they are often nearly the same. */
	@Provide
	Arbitrary<Name> names() {
		Arbitrary<String> plain = Arbitraries.strings().withChars('a', '-', '.').ofMinLength(0).ofMaxLength(2);
		Arbitrary<List<Dimension>> by = Arbitraries
			.of(Dimension.TENANT, Dimension.USER, Dimension.IP, new Dimension("a"), new Dimension("aa"))
			.list()
			.ofMaxSize(3)
			.uniqueElements();
		return Combinators.combine(plain.map("a"::concat), plain.map("a"::concat), by)
			.flatAs((policy, limit, dimensions) -> hostile().list()
				.ofSize(dimensions.size())
				.map((values) -> new Name(policy, limit, dimensions, values)));
	}

	@Provide
	Arbitrary<String> hostile() {
		return Arbitraries.strings()
			.withChars('a', ':', '{', '}', '\0', '\1', ' ', '\n', 'ä', '\uD800', '\uDC00', '\uFFFD')
			.ofMaxLength(8);
	}

	@Provide
	Arbitrary<Algorithm> algorithms() {
		return Arbitraries.of(Algorithm.class);
	}

}
