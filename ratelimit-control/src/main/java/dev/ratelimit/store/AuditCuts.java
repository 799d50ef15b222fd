package dev.ratelimit.store;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Finds entries of an audit trail that are too old or too many. Counting them means to
 * read the trail, so that it happens only if enough entries were added since the last
 * time. For one thread at a time.
 */
public final class AuditCuts {

	/** Action of the entry about removed entries; its target is {@link Cut#hash}. */
	public static final String ACTION = AuditCheck.TRIM;

	private final PolicyStore store;

	private final long most;

	/** Entries when they were last counted, and the number of the newest one then. */
	private long counted;

	private long countedAt;

	/**
	 * Creates a finder.
	 * @param most largest number of entries; if there are more, 99 % of it are left
	 */
	public AuditCuts(PolicyStore store, long most) {
		this.store = store;
		this.most = most;
		this.counted = most;
		this.countedAt = -1;
	}

	/**
	 * Finds where the trail can be cut.
	 * @param oldest time of the oldest entry that stays
	 */
	public CompletionStage<Optional<Cut>> find(Instant oldest) {
		Cutter tooOld = new Cutter(0, 0);
		return AuditScan.read(this.store, new AuditPosition(oldest, 0), tooOld::add, () -> false)
			.thenCompose(
					(read) -> tooOld.cut().isPresent() ? CompletableFuture.completedStage(tooOld.cut()) : tooMany());
	}

	private CompletionStage<Optional<Cut>> tooMany() {
		return this.store.auditHead().thenCompose((head) -> {
			if (this.counted + head.number() - this.countedAt <= this.most) {
				return CompletableFuture.completedStage(Optional.empty());
			}
			Cutter cutter = new Cutter(this.most - this.most / 100, this.most);
			return AuditScan.read(this.store, null, cutter::add, () -> false).thenApply((read) -> {
				this.counted = cutter.cut().isPresent() ? cutter.keep : cutter.entries;
				this.countedAt = head.number();
				return cutter.cut();
			});
		});
	}

	/**
	 * Where the trail can be cut.
	 *
	 * @param position of the newest entry to remove
	 * @param hash of the newest chained entry to remove, empty if there is none
	 */
	public record Cut(AuditPosition position, String hash) {
	}

	/** Cuts behind the newest entries if there are more than the most. */
	private static final class Cutter {

		private final long keep;

		private final long most;

		private long entries;

		private @Nullable AuditPosition position;

		private @Nullable String hash;

		Cutter(long keep, long most) {
			this.keep = keep;
			this.most = most;
		}

		boolean add(AuditEntry entry) {
			this.entries++;
			if (this.entries > this.keep) {
				this.position = (this.position != null) ? this.position : entry.position();
				AuditLink link = entry.link();
				this.hash = (this.hash != null || link == null) ? this.hash : link.hash();
			}
			return this.entries <= this.most || this.hash == null;
		}

		Optional<Cut> cut() {
			return (this.position != null && this.entries > this.most)
					? Optional.of(new Cut(this.position, (this.hash != null) ? this.hash : "")) : Optional.empty();
		}

	}

}
