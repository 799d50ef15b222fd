/**
 * Names of callers: under which value they are counted, and under which pseudonym they
 * are shown.
 * <ul>
 * <li>names: {@link CallerNames} for logs and events, {@link Pseudonyms} for look-up</li>
 * <li>secrets: {@link Salt}, and {@link Epochs} with their {@link Epoch}, whose key
 * hashes values for a limited time</li>
 * <li>encodings: {@link DigestText}, {@link SealedHashes} of counters in Redis, and
 * {@link Signatures} of what callers keep and bring back</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.caller;

import org.jspecify.annotations.NullMarked;
