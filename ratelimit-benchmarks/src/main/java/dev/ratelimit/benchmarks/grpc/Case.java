package dev.ratelimit.benchmarks.grpc;

import java.util.List;

/**
 * What is asked over one connection.
 */
enum Case {

	UNARY_LEASED("unary-leased", "`Check`, leased, 256 in flight", "leased", 256, 0, false),

	UNARY_STRICT("unary-strict", "`Check`, strict, 256 in flight", "strict", 256, 0, false),

	MANY_LEASED("many-leased", "`CheckMany`, leased, 4 messages of 200 in flight", "leased", 4, 200, false),

	MANY_STRICT("many-strict", "`CheckMany`, strict, 4 messages of 200 in flight", "strict", 4, 200, false),

	LONE_TCP("lone-tcp", "`Check`, leased, 1 in flight, TCP", "leased", 1, 0, false),

	LONE_UNIX("lone-unix", "the same, Unix domain socket", "leased", 1, 0, true),

	EIGHT_TCP("eight-tcp", "`Check`, leased, 8 in flight, TCP", "leased", 8, 0, false),

	EIGHT_UNIX("eight-unix", "the same, Unix domain socket", "leased", 8, 0, true);

	private final String id;

	private final String text;

	private final String policy;

	private final int inFlight;

	private final int items;

	private final boolean unix;

	Case(String id, String text, String policy, int inFlight, int items, boolean unix) {
		this.id = id;
		this.text = text;
		this.policy = policy;
		this.inFlight = inFlight;
		this.items = items;
		this.unix = unix;
	}

	/** All cases that this machine can measure. */
	static List<Case> all() {
		return List.of(values()).stream().filter((each) -> !each.unix || Connection.hasUnix()).toList();
	}

	String id() {
		return this.id;
	}

	String text() {
		return this.text;
	}

	boolean unix() {
		return this.unix;
	}

	/**
	 * Tenants whose counters are checked: leases are for callers that come often.
	 */
	private int tenants() {
		return this.policy.equals("strict") ? 10_000 : 100;
	}

	GrpcLoad load(Connection connection) {
		Requests requests = new Requests(this.policy, tenants());
		return (this.items > 0) ? new StreamLoad(connection.channel(), requests, this.inFlight, this.items)
				: new UnaryLoad(connection.channel(), requests, this.inFlight);
	}

}
