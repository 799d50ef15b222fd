package dev.ratelimit.events;

import org.jspecify.annotations.Nullable;

/**
 * An event as it is sent.
 *
 * @param key what those events have in common that must stay in order
 */
record EventMessage(byte @Nullable [] key, byte[] value) {
}
