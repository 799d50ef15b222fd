package dev.ratelimit.policy;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;

/**
 * The versions of a policy that are in force: the newest and, while that is not for
 * everybody, the one before it. Both keep their counts in the same counters, so that
 * nobody gains or loses anything by moving from one to the other. The exception is a
 * version that is only tried out: it must not touch what the other one counts.
 *
 * <table>
 * <caption>Who is decided by what</caption>
 * <tr>
 * <th>newest version</th>
 * <th>with one before it</th>
 * <th>without</th>
 * </tr>
 * <tr>
 * <td>for everybody</td>
 * <td>newest</td>
 * <td>newest</td>
 * </tr>
 * <tr>
 * <td>for a part, or later</td>
 * <td>newest inside, the one before it outside</td>
 * <td>newest inside, newest in shadow outside</td>
 * </tr>
 * <tr>
 * <td>in shadow, or for 0 %</td>
 * <td>the one before it; newest counts beside it</td>
 * <td>newest, in shadow</td>
 * </tr>
 * </table>
 */
final class PolicyVersions {

	private final Policy newest;

	private final @Nullable Policy previous;

	private final CompiledPolicy inside;

	/** {@code null} if nobody is outside. */
	private final @Nullable CompiledPolicy outside;

	private final @Nullable CompiledPolicy beside;

	private final @Nullable Comparison comparison;

	private final Rollout rollout;

	private final InstantSource clock;

	private final CallerShare share;

	private final boolean retired;

	/** Once it is, it stays so, and the clock is not asked any more. */
	private volatile boolean started;

	/**
	 * Compiles versions.
	 * @param previous the version before, {@code null} if there is none
	 * @param before what was in force until now, {@code null} if nothing was
	 * @param windows of the policy, which all its versions share
	 * @throws IllegalArgumentException if the versions and the records about callers
	 * together have windows that one counter cannot keep
	 */
	PolicyVersions(Policy newest, @Nullable Policy previous, @Nullable PolicyVersions before, PolicyWindows windows,
			InstantSource clock) {
		Specs specs = new Specs(windows);
		if (before != null) {
			before.deciding().flatMap(CompiledPolicy::specs).forEach(specs::add);
		}
		this.newest = newest;
		this.previous = previous;
		this.rollout = newest.settings().rollout();
		this.clock = clock;
		this.share = new CallerShare(newest.id());
		this.retired = false;
		this.started = this.rollout.validFrom() == null;
		boolean shadow = newest.settings().shadow() || this.rollout.percent() == 0;
		boolean complete = this.rollout.percent() == 100 && hasStarted();
		if (previous != null && (shadow || !complete)) {
			CompiledPolicy last = new CompiledPolicy(previous, false, previous.id(), specs);
			this.inside = shadow ? last : new CompiledPolicy(newest, false, newest.id(), specs);
			this.outside = shadow ? null : last;
			// No policy has such an id.
			this.beside = shadow ? new CompiledPolicy(newest, true, newest.id() + '#' + newest.version(), trial(newest))
					: null;
			Comparison known = (before != null) ? before.comparison : null;
			this.comparison = (known != null && known.isOf(previous.version(), newest.version())) ? known
					: new Comparison(previous.version(), newest.version());
		}
		else {
			this.inside = new CompiledPolicy(newest, false, newest.id(), specs);
			this.outside = (complete || newest.settings().shadow()) ? null
					: new CompiledPolicy(newest, true, newest.id(), specs);
			this.beside = null;
			this.comparison = null;
		}
		windows.put(deciding().map(CompiledPolicy::policy).distinct().toList());
	}

	/** A version that is tried out shares no counters with those that decide. */
	private static Specs trial(Policy policy) {
		PolicyWindows windows = new PolicyWindows();
		windows.put(List.of(policy));
		return new Specs(windows);
	}

	private PolicyVersions(PolicyVersions versions) {
		this.newest = versions.newest;
		this.previous = versions.previous;
		this.inside = versions.inside;
		this.outside = versions.outside;
		this.beside = versions.beside;
		this.comparison = versions.comparison;
		this.rollout = versions.rollout;
		this.clock = versions.clock;
		this.share = versions.share;
		this.started = versions.started;
		this.retired = true;
	}

	/**
	 * The same for a policy that is gone.
	 */
	PolicyVersions retire() {
		return this.retired ? this : new PolicyVersions(this);
	}

	boolean retired() {
		return this.retired;
	}

	boolean isOf(Policy newest, @Nullable Policy previous) {
		return !this.retired && this.newest.equals(newest)
				&& ((previous != null) ? previous.equals(this.previous) : this.previous == null);
	}

	Policy newest() {
		return this.newest;
	}

	/**
	 * The versions that decide or count, the newest first.
	 */
	List<Policy> live() {
		return (this.comparison != null && this.previous != null) ? List.of(this.newest, this.previous)
				: List.of(this.newest);
	}

	Match match(Request request, Records records) {
		CompiledPolicy outside = this.outside;
		CompiledPolicy version = (outside == null || isInside(request)) ? this.inside : outside;
		return version.match(request, records);
	}

	/**
	 * The same without what the tenant has given itself.
	 */
	Match granted(Request request, Records records) {
		CompiledPolicy outside = this.outside;
		CompiledPolicy version = (outside == null || isInside(request)) ? this.inside : outside;
		return version.granted(request, records);
	}

	/**
	 * The version that counts beside the one that decides, {@code null} as a rule.
	 */
	@Nullable Match beside(Request request, Records records) {
		return (this.beside != null) ? this.beside.match(request, records) : null;
	}

	@Nullable Comparison comparison() {
		return this.comparison;
	}

	private boolean isInside(Request request) {
		return (this.started || hasStarted()) && this.share.contains(request, this.rollout.percent());
	}

	private boolean hasStarted() {
		Instant validFrom = this.rollout.validFrom();
		if (!this.started && validFrom != null && !this.clock.instant().isBefore(validFrom)) {
			this.started = true;
		}
		return this.started;
	}

	private Stream<CompiledPolicy> deciding() {
		return Stream.concat(Stream.of(this.inside), Stream.ofNullable(this.outside));
	}

}
