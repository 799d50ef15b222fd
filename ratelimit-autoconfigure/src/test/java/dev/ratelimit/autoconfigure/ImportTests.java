package dev.ratelimit.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an import that is cut short leaves behind.
 */
class ImportTests {

	private static final String KEY = "sk_live_4711";

	private static final RecordKey RAW = new RecordKey(Kind.DENY, "api-key=" + KEY);

	private static final RecordKey DIGEST = RecordIds.entry(Kind.DENY, Map.of(Dimension.API_KEY, KEY));

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(PolicySet.of());

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.reader,
			(key) -> List.of());

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final ControlPlane control = new ControlPlane(this.store, this.replica, this.live, this.reader,
			(policy) -> List.of());

	@AfterEach
	void end() {
		this.replica.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { PolicyStore.MAX_EDITS - 2, PolicyStore.MAX_EDITS - 1, PolicyStore.MAX_EDITS })
	void recordOfAnEarlierReleaseIsReplacedInOneWrite(int before) {
		this.replica.start();
		join(this.store.write(List.of(new Edit(RAW, "{}", null)), Seen.NOTHING, "old", ""));
		await().until(() -> this.policies.get().denies(Request.of("orders").with(Dimension.API_KEY, KEY)));
		// Nothing is written after the first piece.
		this.store.subscribe((revision) -> {
			if (revision > 1) {
				this.store.goAway();
			}
		});
		List<Change> page = new ArrayList<>(IntStream.range(0, before)
			.mapToObj((i) -> new Change(RecordIds.entry(Kind.DENY, Map.of(Dimension.TENANT, "t" + i)), Map.of(), null))
			.toList());
		page.add(new Change(DIGEST, Map.of(), null));
		boolean whole = before + 2 <= PolicyStore.MAX_EDITS;
		assertThat(this.control.writeAll(page, new Author("ann", ""), (written) -> {
		}).toCompletableFuture()).matches((written) -> written.isCompletedExceptionally() != whole);
		assertThat(exists(RAW)).isEqualTo(!whole);
		assertThat(exists(DIGEST)).isEqualTo(whole);
	}

	private boolean exists(RecordKey key) {
		List<RecordVersion> newest = join(this.store.history(key, 1));
		return !newest.isEmpty() && !newest.get(0).deleted();
	}

}
