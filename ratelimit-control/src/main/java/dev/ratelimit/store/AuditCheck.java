package dev.ratelimit.store;

import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Checks the chain of the audit trail, from the newest entry to the oldest.
 *
 * <p>
 * <b>The invariant.</b> Each chained entry has the hash of its content and of the hash
 * before it. So a changed entry does not match its own hash, and a removed one leaves an
 * entry whose predecessor has another hash. The store also keeps the newest hash, so that
 * entries cannot be removed from the end. The chain starts at its first entry, or behind
 * the hash that an {@linkplain #TRIM entry about a removal} names.
 *
 * <p>
 * <b>What it does not show.</b> Whoever can write to the store can write a whole new
 * chain. Only the log of the instances reveals that.
 */
final class AuditCheck {

	/** Action of an entry about removed entries; its target is the last removed hash. */
	static final String TRIM = "audit-trim";

	private final AuditHead head;

	private boolean headSeen;

	/** The newest entry with a link. */
	private @Nullable AuditEntry newest;

	private final Set<String> removed = new HashSet<>();

	private @Nullable AuditEntry newer;

	private @Nullable AuditLink newerLink;

	private AuditReport.@Nullable Problem broken;

	private long entries;

	/** Unchained entries that are newer than a chained one, and the oldest of them. */
	private long unchained;

	private @Nullable AuditEntry firstUnchained;

	/** Unchained entries behind the last chained one: the chain may begin after them. */
	private long older;

	private @Nullable AuditEntry oldest;

	private boolean trimmed;

	/**
	 * Creates a check.
	 * @param head newest entry, read before the entries
	 */
	AuditCheck(AuditHead head) {
		this.head = head;
	}

	/**
	 * Checks the next older entry.
	 * @return whether older entries matter
	 */
	boolean add(AuditEntry entry) {
		AuditLink link = entry.link();
		if (link == null) {
			this.older++;
			this.oldest = entry;
			return true;
		}
		this.entries++;
		if (this.older > 0) {
			this.unchained += this.older;
			this.firstUnchained = this.oldest;
			this.older = 0;
		}
		if (this.newest == null) {
			this.newest = entry;
		}
		checkHead(entry, link);
		checkNewer(link);
		if (!link.matches(entry.attempt())) {
			broken(entry, "The content does not match the hash.");
		}
		else if (entry.attempt().action().equals(TRIM)) {
			this.removed.add(entry.attempt().target());
		}
		this.newer = entry;
		this.newerLink = link;
		this.trimmed = !link.previous().isEmpty() && this.removed.contains(link.previous());
		return !this.trimmed;
	}

	/**
	 * Ends the check.
	 * @param complete whether all entries that matter were checked
	 * @param last newest entry, read after the entries
	 */
	AuditReport end(boolean complete, AuditHead last) {
		AuditEntry start = this.newer;
		if (this.broken == null && this.newest != null && this.newest.link() != null
				&& this.newest.link().number() > last.number()) {
			broken(this.newest, "The store does not know it as the newest entry.");
		}
		if (complete && !this.headSeen && this.head.number() > 0) {
			broken(null, "All chained entries are missing.");
		}
		if (complete && start != null && this.newerLink != null && !this.newerLink.previous().isEmpty()
				&& !this.trimmed) {
			broken(start, "The entries before it are missing, and no entry '" + TRIM + "' names them.");
		}
		return new AuditReport(complete, this.entries, start, this.trimmed, this.broken, this.unchained,
				this.firstUnchained, this.older);
	}

	/**
	 * Entries that were added since the head was read are newer than it. They cannot be
	 * newer than the head that is read at the end.
	 */
	private void checkHead(AuditEntry entry, AuditLink link) {
		if (this.headSeen || link.number() > this.head.number()) {
			return;
		}
		this.headSeen = true;
		if (!link.head().equals(this.head)) {
			long missing = this.head.number() - link.number();
			broken(entry, (missing > 0) ? missing(missing, "after") : "The newest entry was replaced.");
		}
	}

	private void checkNewer(AuditLink link) {
		AuditEntry entry = this.newer;
		AuditLink next = this.newerLink;
		if (entry == null || next == null || next.previous().equals(link.hash())) {
			return;
		}
		long missing = next.number() - link.number() - 1;
		broken(entry, next.previous().isEmpty() ? "A new chain begins here, although there are older entries."
				: (missing > 0) ? missing(missing, "before") : "The entry before it was replaced.");
	}

	private static String missing(long count, String where) {
		return (count == 1) ? "1 entry " + where + " it is missing." : count + " entries " + where + " it are missing.";
	}

	/** The last one found is the oldest. */
	private void broken(@Nullable AuditEntry entry, String problem) {
		this.broken = new AuditReport.Problem(entry, problem);
	}

}
