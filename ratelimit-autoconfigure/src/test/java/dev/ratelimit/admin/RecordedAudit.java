package dev.ratelimit.admin;

import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An audit trail without a store, for tests of other packages.
 */
public final class RecordedAudit {

	private final AuditTrail trail = new AuditTrail(null);

	private final Audit audit;

	public RecordedAudit(Clock clock) {
		this.audit = new Audit(clock, this.trail, List.of());
	}

	public Audit audit() {
		return this.audit;
	}

	/** All entries, the newest first. */
	public Map<String, Object> page() {
		return this.trail.show(null, 1_000).toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
	}

}
