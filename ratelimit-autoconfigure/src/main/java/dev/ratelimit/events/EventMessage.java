package dev.ratelimit.events;

import org.jspecify.annotations.Nullable;

/**
 * An event as it is sent.
 *
 * @param key the same for all events that must stay in order
 */
record EventMessage(byte @Nullable [] key, byte[] value) {
}
