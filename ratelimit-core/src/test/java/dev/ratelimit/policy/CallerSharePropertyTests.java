package dev.ratelimit.policy;

import java.util.Arrays;
import java.util.stream.IntStream;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

class CallerSharePropertyTests {

	/** Fixed: another hash would move callers in the middle of a rollout. */
	private static final int PLACE_OF_ACME = 56;

	private final CallerShare share = new CallerShare("orders");

	@Property
	void whoIsInAtOnePercentageIsInAtAnyLargerOne(@ForAll String tenant, @ForAll @IntRange(max = 100) int percent,
			@ForAll @IntRange(max = 100) int more) {
		Request request = tenant(tenant);
		if (this.share.contains(request, percent)) {
			assertThat(this.share.contains(request, Math.min(100, percent + more))).isTrue();
		}
		assertThat(this.share.contains(request, 0)).isFalse();
		assertThat(this.share.contains(request, 100)).isTrue();
	}

	@Property
	void userDoesNotMatterWhereThereIsATenant(@ForAll String tenant, @ForAll String user, @ForAll String other) {
		assertThat(this.share.place(tenant(tenant).with(Dimension.USER, user)))
			.isEqualTo(this.share.place(tenant(tenant).with(Dimension.USER, other)));
	}

	@Example
	void placesAreEvenlyTaken() {
		for (Dimension dimension : new Dimension[] { Dimension.TENANT, Dimension.USER, Dimension.API_KEY,
				Dimension.IP }) {
			int[] places = new int[100];
			for (int i = 0; i < 100_000; i++) {
				String value = dimension.equals(Dimension.IP) ? "10.1." + i / 256 + "." + i % 256 : "caller-" + i;
				places[this.share.place(Request.of("orders").with(dimension, value))]++;
			}
			// Five standard deviations of what chance does.
			assertThat(Arrays.stream(places).boxed()).allSatisfy((taken) -> assertThat(taken).isBetween(843, 1_157));
		}
	}

	/** Otherwise all callers of a rollout at 1 % would be in one bucket, or in none. */
	@Example
	void bucketAndSampleDoNotFollowFromThePlace() {
		int[] buckets = new int[CallerShare.BUCKETS];
		int inside = 0;
		int sampled = 0;
		int[] sampledBuckets = new int[CallerShare.BUCKETS];
		for (int i = 0; i < 1_000_000; i++) {
			Request request = tenant("t" + i);
			if (this.share.contains(request, 1)) {
				inside++;
				buckets[this.share.bucket(request)]++;
				sampled += this.share.isSampled(request) ? 1 : 0;
			}
			if (this.share.isSampled(request)) {
				sampledBuckets[this.share.bucket(request)]++;
			}
		}
		// Six standard deviations of what chance does.
		assertThat(inside).isBetween(9_400, 10_600);
		assertThat(Arrays.stream(buckets).boxed()).allSatisfy((taken) -> assertThat(taken).isBetween(81, 232));
		assertThat(sampled).isBetween(116, 284);
		assertThat(Arrays.stream(sampledBuckets).boxed()).allSatisfy((taken) -> assertThat(taken).isBetween(206, 419));
	}

	/** Each request of a sampled caller costs two more decisions. */
	@Example
	void twoPercentOfTheCallersAreSampled() {
		long sampled = IntStream.range(0, 100_000).filter((i) -> this.share.isSampled(tenant("t" + i))).count();
		assertThat(sampled).isBetween(1_735L, 2_265L);
	}

	@Example
	void policiesBeginWithDifferentCallers() {
		CallerShare other = new CallerShare("search");
		int both = 0;
		for (int i = 0; i < 10_000; i++) {
			Request request = tenant("t" + i);
			both += (this.share.contains(request, 10) && other.contains(request, 10)) ? 1 : 0;
		}
		assertThat(both).isBetween(50, 150);
	}

	@Example
	void placeIsTheSameInEveryInstanceAndVersion() {
		assertThat(this.share.place(tenant("acme"))).isEqualTo(new CallerShare("orders").place(tenant("acme")))
			.isEqualTo(PLACE_OF_ACME);
	}

	@Example
	void keyThatACallerMerelyClaimsDoesNotChooseItsPlace() {
		Request caller = Request.of("orders").with(Dimension.IP, "203.0.113.7");
		assertThat(this.share.place(caller.withUnverified(Dimension.API_KEY, "a")))
			.isEqualTo(this.share.place(caller.withUnverified(Dimension.API_KEY, "b")))
			.isEqualTo(this.share.place(caller));
	}

	@Example
	void addressesOfOneNetworkAreOneCaller() {
		assertThat(this.share.place(Request.of("orders").with(Dimension.IP, "2001:db8::1")))
			.isEqualTo(this.share.place(Request.of("orders").with(Dimension.IP, "2001:db8:0:0:ffff::2")));
	}

	private static Request tenant(String tenant) {
		return Request.of("orders").with(Dimension.TENANT, tenant);
	}

}
