package dev.ratelimit.policy;

/**
 * Both versions of a rollout for one caller, each with counters of its own that decide
 * nothing but the comparison.
 *
 * @param bucket group of callers in which the request is counted
 */
public record VersionPair(int bucket, Match previous, Match next) {
}
