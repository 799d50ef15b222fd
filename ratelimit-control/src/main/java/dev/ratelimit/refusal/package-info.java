/**
 * Why a caller was refused: a line in the log, and a history that can be asked later.
 *
 * <p>
 * <b>Invariants.</b> A decision never waits for any of this and never fails because of
 * it: {@link dev.ratelimit.refusal.RefusalRecorder} only counts, and puts what is worth
 * keeping into a queue of fixed size. A thread of its own turns that into lines and
 * entries. Values of callers are replaced by pseudonyms there, before anything is written
 * anywhere. The number of lines and entries in a second is bounded whatever is refused,
 * and so is the part of the history that one counter can fill: after its first entries it
 * is only counted, over intervals that double up to about a minute, and each interval
 * ends with one entry that says how many there were. What is left out is always counted,
 * never lost silently: lines as "suppressed", entries as
 * {@link dev.ratelimit.refusal.RefusalRecorder#missing() missing}.
 *
 * <p>
 * <b>How it fails.</b> While the history cannot be written, its entries are counted as
 * missing and not sent again, and the log goes on. When the log blocks, the queue fills,
 * and what does not fit is counted. A process that dies loses what was refused within the
 * last fraction of a second. While more than 10,000 counters refuse at once, those that
 * come on top are not watched, and what they refuse is missing.
 *
 * <p>
 * <b>Classes.</b>
 * <ul>
 * <li>recording: {@link RefusalRecorder} with {@link RefusalOptions} queues each
 * {@link QueuedRefusal}; {@link RefusalWriter} writes within {@link SecondBudget} and
 * {@link KeyCaps}, with the {@link RefusalContext}</li>
 * <li>asking: {@link RefusalHistory}, in memory {@link MemoryHistory}, answers a
 * {@link RefusalQuery} with each {@link Refusal} and its {@link QuotaState}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.refusal;

import org.jspecify.annotations.NullMarked;
