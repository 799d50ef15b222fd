package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import com.google.rpc.Code;
import io.grpc.Context;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.LeaseRequest;
import dev.ratelimit.grpc.v1.LeaseResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.grpc.v1.SettleResponse;
import dev.ratelimit.web.CallTrace;

/**
 * Permits that are taken up front and settled later, by any instance. A lease is decided
 * as a check is. Its token alone says what may be settled: a settle asks nobody who
 * calls.
 */
final class LeaseMethods {

	private static final String LEASE = "/" + RateLimiterGrpc.getLeaseMethod().getFullMethodName();

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	/** Keys of signatures hold for at least one epoch. */
	private static final Duration LONGEST = Epochs.SHORTEST;

	private static final Duration USUAL = Duration.ofMinutes(1);

	private final MessageChecks checks;

	private final LeaseTokens tokens;

	private final @Nullable Store store;

	/**
	 * Creates it.
	 * @param store {@code null} if counters cannot be settled by other instances
	 */
	LeaseMethods(MessageChecks checks, LeaseTokens tokens, @Nullable Store store) {
		this.checks = checks;
		this.tokens = tokens;
		this.store = store;
	}

	void lease(LeaseRequest message, CurrentCall call, CallTrace trace, UnaryAnswer<LeaseResponse> answer) {
		Store store;
		Duration expiry;
		MessageChecks.Way way;
		try {
			store = store();
			expiry = expiry(message);
			long least = least(message);
			way = new MessageChecks.Way(LEASE, (request) -> request(request, message.getPermits(), least));
		}
		catch (StatusException ex) {
			answer.fail(ex);
			return;
		}
		CheckRequest check = CheckRequest.newBuilder()
			.setPolicy(message.getPolicy())
			.putAllDimensions(message.getDimensionsMap())
			.setCost(message.getPermits())
			.setRequestId(message.getRequestId())
			.build();
		this.checks.decide(way, check, call, this.checks.principal(call), Context.current().getDeadline())
			.whenComplete((decision, failure) -> {
				if (decision == null) {
					answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
				}
				else if (answer.isCancelled()) {
					decision.giveBack();
				}
				else {
					trace.decided(decision);
					send(store, decision, message.getPermits(), expiry, answer);
				}
			});
	}

	/**
	 * An id names a lease of these permits, so that no retry gets those of a larger one
	 * or of a check.
	 */
	private static Request request(Request request, long permits, long least) {
		String id = request.idempotencyKey();
		return request.atLeast(least).withIdempotencyKey((id != null) ? "lease " + permits + ' ' + id : null);
	}

	private void send(Store store, Decision taken, long permits, Duration expiry, UnaryAnswer<LeaseResponse> answer) {
		Decision decision = taken;
		try {
			decision = store.settleable().apply(taken);
			LeaseResponse.Builder response = LeaseResponse.newBuilder().setDecision(this.checks.answer(decision));
			if (decision.allowed()) {
				add(response, decision, permits, expiry);
			}
			answer.send(response.build());
		}
		catch (StatusException | RuntimeException ex) {
			decision.giveBack();
			answer.fail(ex);
		}
	}

	private void add(LeaseResponse.Builder response, Decision decision, long permits, Duration expiry)
			throws StatusException {
		// A policy in shadow, a bypass and a failure mode grant all.
		boolean counted = decision.granted() > 0 && !decision.shadow();
		// The clocks of instances differ: Redis accepts the settle for longer.
		byte[] receipt = decision.receipt().encode(expiry.plus(Epochs.TOLERANCE));
		LeaseTokens.Lease lease = this.tokens.issue(counted ? decision.granted() : permits,
				(receipt != null) ? receipt : new byte[0], expiry);
		response.setGranted(lease.permits())
			.setToken(lease.token())
			.setExpires(Timestamp.newBuilder()
				.setSeconds(Math.floorDiv(lease.expires(), 1_000L))
				.setNanos((int) Math.floorMod(lease.expires(), 1_000L) * 1_000_000));
	}

	/**
	 * Settles a lease. It is settled also if the caller leaves before the answer.
	 * @param actual used permits, {@code null} if the message does not say
	 */
	void settle(ByteString token, @Nullable Long actual, UnaryAnswer<SettleResponse> answer) {
		try {
			Store store = store();
			if (actual == null || actual < 0 || actual > Quota.MAX_PERMITS) {
				throw Statuses.invalid("actual", "must be 0 to " + Quota.MAX_PERMITS);
			}
			LeaseTokens.Lease lease = this.tokens.read(token);
			if (lease.receipt().length == 0) {
				answer.send(response(Settlement.NOTHING, false));
				return;
			}
			store.settling().settle(lease.receipt(), actual).whenComplete((outcome, failure) -> {
				if (outcome == null) {
					answer.fail((failure != null) ? failure : new IllegalStateException("no outcome"));
				}
				else if (outcome == Settlement.LOST) {
					answer.fail(this.tokens.hasExpired(lease) ? LeaseTokens.expired() : unanswered());
				}
				else if (!answer.isCancelled()) {
					answer.send(response(outcome, outcome == Settlement.NOTHING));
				}
			});
		}
		catch (StatusException ex) {
			answer.fail(ex);
		}
		catch (IllegalArgumentException ex) {
			answer.fail(Statuses.invalid("token", "was made by another release"));
		}
	}

	private static SettleResponse response(Settlement outcome, boolean already) {
		return SettleResponse.newBuilder().setOutcome(outcome.text()).setAlreadySettled(already).build();
	}

	private static StatusException unanswered() {
		return Statuses.error(Code.UNAVAILABLE,
				"The counters did not answer; the lease can be settled again until it expires", null);
	}

	private Store store() throws StatusException {
		if (this.store == null) {
			throw Statuses.error(Code.FAILED_PRECONDITION,
					"Leases need counters in Redis (ratelimit.backend: redis): other instances could not settle them",
					null);
		}
		return this.store;
	}

	private static long least(LeaseRequest message) throws StatusException {
		long permits = message.getPermits();
		if (permits < 1 || permits > Quota.MAX_PERMITS) {
			throw Statuses.invalid("permits", "must be 1 to " + Quota.MAX_PERMITS);
		}
		long least = message.hasAtLeast() ? message.getAtLeast() : permits;
		if (least < 1 || least > permits) {
			throw Statuses.invalid("at_least", "must be 1 to permits");
		}
		return least;
	}

	private static Duration expiry(LeaseRequest message) throws StatusException {
		if (!message.hasExpiry()) {
			return USUAL;
		}
		Duration expiry;
		try {
			expiry = Duration.ofSeconds(message.getExpiry().getSeconds(), message.getExpiry().getNanos());
		}
		catch (ArithmeticException ex) {
			throw invalidExpiry();
		}
		if (expiry.compareTo(SHORTEST) < 0 || expiry.compareTo(LONGEST) > 0) {
			throw invalidExpiry();
		}
		return expiry;
	}

	private static StatusException invalidExpiry() {
		return Statuses.invalid("expiry", "must be 1 second to 1 hour");
	}

	/**
	 * Counters that any instance can settle.
	 *
	 * @param settleable gives any decision a receipt that can be encoded
	 * @param settling settles it
	 */
	record Store(UnaryOperator<Decision> settleable, Settling settling) {
	}

	/**
	 * Settles the receipts of any instance.
	 */
	interface Settling {

		/**
		 * Settles a receipt, at most once.
		 * @throws IllegalArgumentException if the bytes are no receipt of this release
		 */
		CompletionStage<Settlement> settle(byte[] receipt, long actual);

	}

}
