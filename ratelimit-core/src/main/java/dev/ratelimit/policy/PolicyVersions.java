package dev.ratelimit.policy;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.Tier;

/**
 * The versions of a policy in force: the newest and, while the newest does not decide all
 * callers, the previous one. Both use the same counters, so that a caller gains or loses
 * no permits by moving from one version to the other. Only a trial, and the pair that is
 * compared in a rollout with stages, have counters of their own: they must not affect the
 * counters of the version that decides.
 *
 * <table>
 * <caption>Which version decides</caption>
 * <tr>
 * <th>newest version</th>
 * <th>with a previous version</th>
 * <th>without one</th>
 * </tr>
 * <tr>
 * <td>for all callers</td>
 * <td>newest</td>
 * <td>newest</td>
 * </tr>
 * <tr>
 * <td>for a share of the callers, or with a later start</td>
 * <td>newest for callers inside the share, previous for the others</td>
 * <td>newest for callers inside the share, newest in shadow for the others</td>
 * </tr>
 * <tr>
 * <td>in shadow, or for 0 %</td>
 * <td>previous; newest is a trial</td>
 * <td>newest, in shadow</td>
 * </tr>
 * </table>
 */
final class PolicyVersions {

	private final Policy newest;

	private final @Nullable Policy previous;

	private final CompiledPolicy inside;

	/** {@code null} if no caller is outside the share. */
	private final @Nullable CompiledPolicy outside;

	private final @Nullable CompiledPolicy trial;

	private final @Nullable Comparison comparison;

	/** Both versions in counters of their own; {@code null} if they are not judged. */
	private final @Nullable CompiledPolicy pairedPrevious;

	private final @Nullable CompiledPolicy pairedNext;

	private final Rollout rollout;

	private final InstantSource clock;

	private final CallerShare share;

	/**
	 * Stays {@code true} after the start time, so that later requests do not read the
	 * clock.
	 */
	private volatile boolean started;

	/**
	 * Compiles the versions.
	 * @param previous the previous version, {@code null} if there is none
	 * @param before the versions in force until now, {@code null} if there were none
	 * @param windows the windows of the policy, which all its versions share
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
		this.started = this.rollout.validFrom() == null;
		boolean shadow = newest.settings().shadow() || this.rollout.percent() == 0;
		boolean complete = this.rollout.percent() == 100 && hasStarted();
		if (previous != null && (shadow || !complete)) {
			CompiledPolicy last = new CompiledPolicy(previous, false, previous.id(), specs);
			this.inside = shadow ? last : new CompiledPolicy(newest, false, newest.id(), specs);
			this.outside = shadow ? null : last;
			// No policy id contains '#', so the owner is unique.
			String owner = newest.id() + '#' + newest.version();
			this.trial = shadow ? new CompiledPolicy(newest, true, owner, trial(newest)) : null;
			Comparison known = (before != null) ? before.comparison : null;
			this.comparison = (known != null && known.isOf(previous.version(), newest.version())) ? known
					: new Comparison(previous.version(), newest.version(), judgedWindow(newest, previous));
			boolean paired = !shadow && this.comparison.judges();
			this.pairedPrevious = paired ? new CompiledPolicy(previous, true, owner + "#old", trial(previous)) : null;
			this.pairedNext = paired ? new CompiledPolicy(newest, true, owner + "#new", trial(newest)) : null;
		}
		else {
			this.inside = new CompiledPolicy(newest, false, newest.id(), specs);
			this.outside = (complete || newest.settings().shadow()) ? null
					: new CompiledPolicy(newest, true, newest.id(), specs);
			this.trial = null;
			this.comparison = null;
			this.pairedPrevious = null;
			this.pairedNext = null;
		}
		windows.put(deciding().map(CompiledPolicy::policy).distinct().toList());
	}

	/** A trial shares no counters with the versions that decide. */
	private static Specs trial(Policy policy) {
		PolicyWindows windows = new PolicyWindows();
		windows.put(List.of(policy));
		return new Specs(windows);
	}

	/**
	 * The hold of a rollout with stages, if a window of the versions is not longer: only
	 * such windows show within a stage what they do.
	 */
	private static @Nullable Duration judgedWindow(Policy newest, Policy previous) {
		Duration hold = newest.settings().rollout().hold();
		boolean staged = !newest.settings().rollout().stages().isEmpty();
		boolean shortEnough = Stream.of(newest, previous)
			.flatMap(PolicyVersions::quotas)
			.anyMatch((quota) -> quota.window().compareTo(hold) <= 0);
		return (staged && shortEnough) ? hold : null;
	}

	private static Stream<Quota> quotas(Policy policy) {
		Policy.Settings settings = policy.settings();
		Stream<List<Quota>> changed = Stream
			.concat(settings.tiers().values().stream().map(Tier::limits),
					settings.overrides().stream().map(PolicyOverride::limits))
			.flatMap((limits) -> limits.values().stream());
		return Stream.concat(policy.limits().stream().map(Limit::quotas), changed).flatMap(List::stream);
	}

	boolean isOf(Policy newest, @Nullable Policy previous) {
		return this.newest.equals(newest)
				&& ((previous != null) ? previous.equals(this.previous) : this.previous == null);
	}

	Policy newest() {
		return this.newest;
	}

	/**
	 * The versions that decide or are on trial, the newest first.
	 */
	List<Policy> live() {
		return (this.comparison != null && this.previous != null) ? List.of(this.newest, this.previous)
				: List.of(this.newest);
	}

	/**
	 * The version that decides the caller of a request.
	 */
	CompiledPolicy versionFor(Request request) {
		CompiledPolicy outside = this.outside;
		return (outside == null || isInside(request)) ? this.inside : outside;
	}

	@Nullable Match trial(Request request, CallerRecords records) {
		return (this.trial != null) ? this.trial.match(request, records) : null;
	}

	/**
	 * Both versions for the caller of a request, {@code null} if they are not compared
	 * for it.
	 */
	@Nullable VersionPair pair(Request request, CallerRecords records) {
		CompiledPolicy previous = this.pairedPrevious;
		CompiledPolicy next = this.pairedNext;
		return (previous != null && next != null && hasStarted() && this.share.isSampled(request))
				? new VersionPair(bucket(request), previous.match(request, records), next.match(request, records))
				: null;
	}

	int bucket(Request request) {
		return this.share.bucket(request);
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
