package dev.ratelimit.store;

/**
 * The newest entry of the chain.
 *
 * @param number how many entries the chain has had
 * @param hash of the entry, empty before the first
 */
public record AuditHead(long number, String hash) {

	/** Before the first entry. */
	public static final AuditHead NONE = new AuditHead(0, "");

	/** The link of an attempt that follows. */
	public AuditLink follow(AuditRecord attempt) {
		long next = this.number + 1;
		return new AuditLink(next, this.hash, AuditLink.hash(next, this.hash, attempt));
	}

}
