package dev.ratelimit.control;

/**
 * Who changes something, and why.
 *
 * @param actor who
 * @param reason why, in the actor's words
 */
public record Author(String actor, String reason) {
}
