package dev.ratelimit.selfservice;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;

/**
 * What a tenant may have and what it has given itself, in two places: so that an operator
 * who raises a limit later is not undone, nor does a tenant lose what it said.
 */
public interface TenantLimits {

	/**
	 * What operators let a tenant have, by the name of the limit, of the limits that
	 * count by tenant alone; {@code null} if there is no such policy.
	 * @param tier plan that its token names
	 */
	@Nullable Map<String, List<Quota>> granted(String policy, String tenant, @Nullable String tier);

	/**
	 * What a tenant has given itself.
	 */
	CompletionStage<Own> own(String policy, String tenant);

	/**
	 * Replaces what a tenant has given itself. With no limits it has what operators let
	 * it have.
	 * @param own with the version that was seen; fails with a
	 * {@link dev.ratelimit.store.ConflictException} if there is a newer one
	 */
	CompletionStage<Void> write(String policy, String tenant, Own own, String actor, String reason);

	/**
	 * What a tenant has given itself.
	 *
	 * @param version of the record, 0 if there never was one
	 * @param limits quotas by the name of the limit
	 */
	record Own(long version, Map<String, List<Quota>> limits) {
	}

}
