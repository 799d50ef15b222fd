package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryHistoryTests {

	private static final Instant START = Instant.parse("2026-11-16T03:47:00Z");

	private Instant now = START;

	private final MemoryHistory history = new MemoryHistory(5, Duration.ofHours(24), () -> this.now);

	@Test
	void newestAreKeptWhenThereAreTooMany() {
		add("a", "b", "c", "d", "e", "f", "g");
		assertThat(users(find(Map.of(), null, 100))).containsExactly("u-g", "u-f", "u-e", "u-d", "u-c");
	}

	@Test
	void whatIsTooOldIsGone() {
		add("a");
		this.now = START.plus(Duration.ofHours(12));
		add("b");
		this.now = START.plus(Duration.ofHours(25));
		assertThat(users(find(Map.of(), null, 100))).containsExactly("u-b");
	}

	@Test
	void callerIsFoundByAllThatIsGiven() {
		add("a", "b", "a");
		assertThat(users(find(Map.of("user", List.of("u-before", "u-a"), "tenant", List.of("t-acme")), null, 100)))
			.hasSize(2);
		assertThat(users(find(Map.of("user", List.of("u-a"), "tenant", List.of("t-other")), null, 100))).isEmpty();
	}

	@Test
	void pagesFollowEachOther() {
		add("a", "b", "c");
		RefusalHistory.Page first = find(Map.of(), null, 2);
		assertThat(users(first)).containsExactly("u-c", "u-b");
		RefusalHistory.Page second = find(Map.of(), first.next(), 2);
		assertThat(users(second)).containsExactly("u-a");
		assertThat(second.next()).isNull();
	}

	@Test
	void entryForManyIsFoundAtAnyTimeOfThem() {
		this.history.add(List.of(Refusals.sparse(START, 100, Duration.ofSeconds(64))));
		for (int seconds : new int[] { -64, -30, 0 }) {
			Instant at = START.plusSeconds(seconds);
			assertThat(join(new RefusalQuery(null, Map.of(), at, at, null, 10)).refusals()).hasSize(1);
		}
		Instant later = START.plusSeconds(1);
		assertThat(join(new RefusalQuery(null, Map.of(), later, later, null, 10)).refusals()).isEmpty();
	}

	private void add(String... users) {
		for (String user : users) {
			this.history.add(List.of(Refusals.full(this.now, user)));
		}
	}

	private RefusalHistory.Page find(Map<String, List<String>> caller, String before, int limit) {
		return join(new RefusalQuery("orders", caller, null, null, before, limit));
	}

	private RefusalHistory.Page join(RefusalQuery query) {
		return this.history.find(query).toCompletableFuture().join();
	}

	private static List<String> users(RefusalHistory.Page page) {
		return page.refusals().stream().map((refusal) -> refusal.caller().get("user")).toList();
	}

}
