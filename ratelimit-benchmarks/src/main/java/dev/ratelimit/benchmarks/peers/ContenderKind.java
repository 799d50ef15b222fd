package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.lettuce.core.RedisURI;

import dev.ratelimit.Enforcement;
import dev.ratelimit.benchmarks.load.Contender;

/**
 * All that are measured, with the workloads that make sense for each. The quick ones are
 * those that a ratio needs, and one for each limiter that has none.
 */
enum ContenderKind {

	STRICT("ours-strict", Workloads.OURS, "existing-256", "existing-half", "lapsed-256", "existing-1", "hot-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Ours(uri, Limits.one(keys), keys.count(), deadline);
		}

	},

	COMPOSITE("ours-strict-3x2", Workloads.OURS_AND_HUNDRED, "existing-256", "lapsed-256", "hundred-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Ours(uri, Limits.three(keys, Enforcement.STRICT), keys.count(), deadline);
		}

	},

	LEASED("ours-leased-3x2", Workloads.HUNDRED, "hundred-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Ours(uri, Limits.three(keys, Enforcement.LEASED), keys.count(), deadline);
		}

	},

	ADAPTIVE("ours-adaptive-3x2", Workloads.EXISTING_AND_HUNDRED, "hundred-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Ours(uri, Limits.three(keys, Enforcement.ADAPTIVE), keys.count(), deadline);
		}

	},

	REFUSED("ours-refused-3x2", Workloads.HUNDRED, "hundred-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Ours(uri, Limits.exhausted(), keys.count(), deadline);
		}

	},

	GATEWAY("scg", Workloads.ALL, "existing-256", "hot-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new GatewayLimiter(uri, GatewayLimiter.stockScript(), keys);
		}

	},

	GATEWAY_STATIC("scg-static", Workloads.ALL, "existing-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new GatewayLimiter(uri, GatewayLimiter.staticScript(), keys);
		}

	},

	BUCKET4J("bucket4j", Workloads.ALL, "existing-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Bucket4j(uri, keys, false);
		}

	},

	BUCKET4J_BATCHING("bucket4j-batching", Workloads.ALL, "hot-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new Bucket4j(uri, keys, true);
		}

	},

	REDISSON("redisson", Workloads.ALL, "existing-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new RedissonLimiter(uri, keys);
		}

	},

	RAW("raw-evalsha", Workloads.ALL_AND_LAPSED, "existing-256", "lapsed-256", "existing-1") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new RawScript(uri, keys);
		}

	},

	INCRBY("raw-incrby", Workloads.EXISTING, "existing-256") {

		@Override
		Contender open(RedisURI uri, Keys keys, Duration deadline) {
			return new IncrBy(uri, keys);
		}

	};

	private final String id;

	private final List<Workload> workloads;

	private final List<Workload> quick;

	ContenderKind(String id, List<Workload> workloads, String... quick) {
		this.id = id;
		this.workloads = workloads;
		this.quick = Workloads.of(quick);
	}

	/**
	 * Connects and prepares all keys.
	 * @param deadline of a check, for those limiters that have one
	 */
	abstract Contender open(RedisURI uri, Keys keys, Duration deadline);

	List<Workload> workloads(boolean quick) {
		return quick ? this.quick : this.workloads;
	}

	/** Which share of the checks should be allowed. */
	double expectedShare() {
		return (this == REFUSED) ? 0 : 1;
	}

	static ContenderKind parse(String id) {
		return Arrays.stream(values())
			.filter((kind) -> kind.id.equals(id))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("no contender '" + id + "'"));
	}

	@Override
	public String toString() {
		return this.id;
	}

	/** Shared lists; an enum constant cannot refer to its own class's static fields. */
	private static final class Workloads {

		static final List<Workload> ALL = of("existing-1", "existing-64", "existing-256", "hot-1", "hot-64", "hot-256");

		static final List<Workload> ALL_AND_LAPSED = of("existing-1", "existing-64", "existing-256", "lapsed-256",
				"hot-1", "hot-64", "hot-256");

		/** The open model comes after the closed loop, whose rate it halves. */
		static final List<Workload> OURS = of("existing-1", "existing-64", "existing-256", "existing-half",
				"lapsed-256", "hot-1", "hot-64", "hot-256");

		static final List<Workload> OURS_AND_HUNDRED = of("existing-1", "existing-64", "existing-256", "existing-half",
				"lapsed-256", "hot-1", "hot-64", "hot-256", "hundred-256");

		static final List<Workload> EXISTING = of("existing-1", "existing-64", "existing-256");

		static final List<Workload> EXISTING_AND_HUNDRED = of("existing-256", "hundred-1", "hundred-64", "hundred-256");

		static final List<Workload> HUNDRED = of("hundred-1", "hundred-64", "hundred-256");

		static List<Workload> of(String... ids) {
			return Arrays.stream(ids).map(Workload::parse).toList();
		}

	}

}
