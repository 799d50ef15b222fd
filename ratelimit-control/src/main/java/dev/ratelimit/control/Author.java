package dev.ratelimit.control;

/**
 * Who changes something, and why.
 */
public record Author(String actor, String reason) {
}
