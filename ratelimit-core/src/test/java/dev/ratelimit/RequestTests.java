package dev.ratelimit;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RequestTests {

	@Test
	void costsOneUnlessSaid() {
		assertThat(Request.of("orders")).isEqualTo(new Request("orders", Map.of(), Set.of(), null, 1, 1));
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, Long.MIN_VALUE, 90_000_001, Long.MAX_VALUE })
	void costOutOfBoundsIsAnArgumentError(long cost) {
		assertThatIllegalArgumentException().isThrownBy(() -> Request.of("orders").withCost(cost))
			.withMessage("cost must be 0 to 90000000 but was " + cost);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 90_000_000 })
	void costWithinBoundsIsWantedInFull(long cost) {
		assertThat(Request.of("orders").withCost(cost))
			.isEqualTo(new Request("orders", Map.of(), Set.of(), null, cost, cost));
	}

	@ParameterizedTest
	@CsvSource({ "10, 11", "10, 0", "10, -1", "0, 1", "0, -1" })
	void partThatIsNoneIsAnArgumentError(long cost, long atLeast) {
		Request request = Request.of("orders").withCost(cost);
		assertThatIllegalArgumentException().isThrownBy(() -> request.atLeast(atLeast))
			.withMessage("atLeast must be 1 to the cost of " + cost + " but was " + atLeast);
	}

	@Test
	void partIsFromOneToTheCost() {
		Request request = Request.of("orders").withCost(10);
		assertThat(request.atLeast(1).atLeast()).isOne();
		assertThat(request.atLeast(10)).isEqualTo(request);
	}

	@Test
	void anotherCostIsWantedInFull() {
		assertThat(Request.of("orders").withCost(10).atLeast(2).withCost(5).atLeast()).isEqualTo(5);
	}

	@Test
	void factIsAddedReplacedAndRemoved() {
		Request ann = Request.of("orders").with(Dimension.USER, "ann").with(Dimension.IP, "10.0.0.1");
		assertThat(ann.dimensions()).isEqualTo(Map.of(Dimension.USER, "ann", Dimension.IP, "10.0.0.1"));
		assertThat(ann.with(Dimension.USER, "bob").dimensions()).containsEntry(Dimension.USER, "bob").hasSize(2);
		assertThat(ann.with(Dimension.USER, null).dimensions()).containsOnlyKeys(Dimension.IP);
		assertThat(ann.with(Dimension.REGION, null)).isEqualTo(ann);
	}

	@Test
	void factLeavesCostAndPart() {
		Request request = Request.of("orders").withCost(10).atLeast(2).with(Dimension.USER, "ann");
		assertThat(request.cost()).isEqualTo(10);
		assertThat(request.atLeast()).isEqualTo(2);
	}

	@Test
	void claimedFactIsKnownButNotVerified() {
		Request request = Request.of("orders").with(Dimension.USER, "ann").withUnverified(Dimension.API_KEY, "k");
		assertThat(request.dimensions()).containsEntry(Dimension.API_KEY, "k");
		assertThat(request.verified(Dimension.API_KEY)).isNull();
		assertThat(request.verified(Dimension.USER)).isEqualTo("ann");
	}

	@Test
	void verifiedFactTakesThePlaceOfAClaimedOne() {
		Request request = Request.of("orders").withUnverified(Dimension.API_KEY, "k").with(Dimension.API_KEY, "v");
		assertThat(request.verified(Dimension.API_KEY)).isEqualTo("v");
	}

	@Test
	void costTierAndPartAreChangedOneByOne() {
		Request request = Request.of("orders")
			.withUnverified(Dimension.API_KEY, "k")
			.withTier("pro")
			.withCost(10)
			.atLeast(2);
		assertThat(request)
			.isEqualTo(new Request("orders", Map.of(Dimension.API_KEY, "k"), Set.of(Dimension.API_KEY), "pro", 10, 2));
	}

	@Test
	void idAndIdempotencyKeyStayWhateverElseIsChanged() {
		Request request = Request.of("orders")
			.withIdempotencyKey("key")
			.withId("4711")
			.with(Dimension.USER, "ann")
			.withUnverified(Dimension.API_KEY, "k")
			.withTier("pro")
			.withCost(10)
			.atLeast(2)
			.withUnresolved(Request.Unresolved.NOTHING)
			.only(Set.of("per-user"));
		assertThat(request.id()).isEqualTo("4711");
		assertThat(request.idempotencyKey()).isEqualTo("key");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 257 })
	void idempotencyKeyHas1To256Characters(int length) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Request.of("orders").withIdempotencyKey("k".repeat(length)));
	}

	@Test
	void changesToTheMapItWasMadeFromDoNotReachIt() {
		Map<Dimension, String> dimensions = new HashMap<>(Map.of(Dimension.USER, "ann"));
		Request request = new Request("orders", dimensions, Set.of(), null, 1, 1);
		dimensions.clear();
		assertThat(request.dimensions()).containsOnlyKeys(Dimension.USER);
	}

	@Test
	void textShowsNoValues() {
		Request request = Request.of("orders").with(Dimension.USER, "ann").with(Dimension.IP, "10.0.0.1").withCost(3);
		assertThat(request.toString()).contains("orders", "user", "ip", "cost=3")
			.doesNotContain("ann")
			.doesNotContain("10.0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "User", "7user", "-user", "user id", "user_id", "a12345678901234567890123456789012" })
	void dimensionOfAnImpossibleNameIsNamed(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Dimension(name))
			.withMessage("dimension '" + name
					+ "': a name is 1 to 32 lower-case letters, digits and dashes and starts with a letter");
	}

	@Test
	void dimensionIsItsName() {
		assertThat(new Dimension("user")).isEqualTo(Dimension.USER).hasToString("user");
		assertThat(new Dimension("a1234567890123456789012345678901").name()).hasSize(32);
	}

}
