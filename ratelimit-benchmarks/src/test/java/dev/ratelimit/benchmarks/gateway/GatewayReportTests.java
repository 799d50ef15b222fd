package dev.ratelimit.benchmarks.gateway;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class GatewayReportTests {

	private static final GatewayReport.Environment ENVIRONMENT = new GatewayReport.Environment(List.of("Redis"), "17",
			2, 0, 3, 0.01, true, 3, 5);

	@Test
	void costIsTheProcessorTimeAboveThePlainRouteAsAShareOfTheGatewaysThere() {
		GatewayReport report = report(turn(200, 2, 260, 22));
		assertThat(report.cost()).containsOnlyKeys("strict");
		assertThat(report.cost().get("strict")).isCloseTo(0.4, within(1e-9));
	}

	@Test
	void everyTurnIsComparedWithThePlainRouteOfTheSameTurn() {
		GatewayReport report = report(List.of(turn(100, 0, 120, 0), turn(200, 0, 240, 0), turn(400, 0, 480, 0)));
		assertThat(report.cost().get("strict")).isCloseTo(0.2, within(1e-9));
		assertThat(report.costInterval().get("strict"))
			.allSatisfy((end) -> assertThat(end).isCloseTo(0.2, within(1e-9)));
	}

	@Test
	void keptIsTheShareOfThePlainRoutesThroughput() {
		assertThat(report(turn(200, 0, 250, 0)).kept()).containsEntry("strict", 0.8);
	}

	@Test
	void costAboveTheBoundFailsTheRun() {
		assertThat(report(turn(200, 0, 258, 2)).passed()).isTrue();
		assertThat(report(turn(200, 0, 258, 4)).passed()).isFalse();
	}

	@Test
	void leasedIsJudgedByItsSamplesOnly() {
		Map<Route, Turn> turn = Map.of(Route.PLAIN, turn(Route.PLAIN, 100, 0), Route.LEASED,
				turn(Route.LEASED, 300, 0));
		Profile few = new Profile(0, 100, 0.06, 0, Map.of());
		Profile many = new Profile(0, 100, 0.07, 0, Map.of());
		assertThat(GatewayReport.of(ENVIRONMENT, List.of(turn), Map.of(Route.LEASED, List.of(few))).passed()).isTrue();
		assertThat(GatewayReport.of(ENVIRONMENT, List.of(turn), Map.of(Route.LEASED, List.of(many))).passed())
			.isFalse();
	}

	@Test
	void shareOfSamplesIsTheMedianOfTheProfilesWithItsInterval() {
		Map<Route, Turn> turn = Map.of(Route.PLAIN, turn(Route.PLAIN, 100, 0), Route.LEASED,
				turn(Route.LEASED, 100, 0));
		List<Profile> profiles = Stream.of(0.02, 0.09, 0.03, 0.05, 0.04, 0.01)
			.map((share) -> new Profile(0, 100, share, 0, Map.of()))
			.toList();
		GatewayReport report = GatewayReport.of(ENVIRONMENT, List.of(turn), Map.of(Route.LEASED, profiles));
		assertThat(report.samples().get("leased")).isCloseTo(0.035, within(1e-9));
		assertThat(report.samplesInterval()).containsEntry("leased", List.of(0.01, 0.09));
	}

	@Test
	void leasedRouteWithoutAProfileHasNotPassed() {
		Map<Route, Turn> turn = Map.of(Route.PLAIN, turn(Route.PLAIN, 100, 0), Route.LEASED,
				turn(Route.LEASED, 100, 0));
		assertThat(report(turn).passed()).isFalse();
	}

	@Test
	void oneTurnWithFailedRequestsFailsTheRun() {
		Turn failed = new Turn("plain", 1, 1, 1, 100, 0, 10, 0.5);
		Map<Route, Turn> good = Map.of(Route.PLAIN, turn(Route.PLAIN, 100, 0));
		assertThat(report(List.of(good, good, Map.of(Route.PLAIN, failed))).passed()).isFalse();
	}

	@Test
	void gatewayThatIsNotWarmHasNotPassed() {
		GatewayReport.Environment cold = new GatewayReport.Environment(List.of("Redis"), "17", 2, 0, 12, 0.1, false, 1,
				1);
		assertThat(GatewayReport.of(cold, List.of(turn(200, 0, 210, 0)), Map.of()).passed()).isFalse();
	}

	@Test
	void profileOfAnOutageIsNotSound() {
		Map<Route, Turn> turn = Map.of(Route.PLAIN, turn(Route.PLAIN, 100, 0), Route.LEASED,
				turn(Route.LEASED, 300, 0));
		GatewayReport report = GatewayReport.of(ENVIRONMENT, List.of(turn),
				Map.of(Route.LEASED, List.of(new Profile(0.01, 100, 0.01, 0, Map.of()))));
		assertThat(report.samples()).isEmpty();
		assertThat(report.passed()).isFalse();
	}

	@Test
	void loadAndUpstreamThatCostMoreThanTheGatewayFailTheRun() {
		Turn plain = new Turn("plain", 1, 1, 1, 100, 0, 100, 0);
		assertThat(GatewayReport.of(ENVIRONMENT, List.of(Map.of(Route.PLAIN, plain)), Map.of()).passed()).isFalse();
	}

	@Test
	void failedRequestsFailTheRun() {
		Turn plain = new Turn("plain", 1, 1, 1, 100, 0, 0, 0.01);
		assertThat(GatewayReport.of(ENVIRONMENT, List.of(Map.of(Route.PLAIN, plain)), Map.of()).passed()).isFalse();
	}

	private static GatewayReport report(Map<Route, Turn> turn) {
		return report(List.of(turn));
	}

	private static GatewayReport report(List<Map<Route, Turn>> turns) {
		return GatewayReport.of(ENVIRONMENT, turns, Map.of());
	}

	private static Map<Route, Turn> turn(double plain, double plainRedis, double strict, double strictRedis) {
		return new EnumMap<>(Map.of(Route.PLAIN, turn(Route.PLAIN, plain, plainRedis), Route.STRICT,
				turn(Route.STRICT, strict, strictRedis)));
	}

	private static Turn turn(Route route, double gateway, double redis) {
		return new Turn(route.id(), 1e6 / gateway, 1, 1, gateway, redis, 10, 0);
	}

}
