package dev.ratelimit.control;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.background.Futures;
import dev.ratelimit.store.ConfirmationException;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaState;
import dev.ratelimit.store.StoreIncidentException;
import dev.ratelimit.store.StoreLostException;

/**
 * Reads and writes the store for {@link ControlPlane}, and names its failures.
 */
final class StoreAccess {

	private final PolicyStore store;

	private final Replica replica;

	StoreAccess(PolicyStore store, Replica replica) {
		this.store = store;
		this.replica = replica;
	}

	CompletionStage<List<RecordVersion>> history(RecordKey key) {
		return translated(this.store.history(key, PolicyStore.KEPT_VERSIONS));
	}

	CompletionStage<@Nullable RecordVersion> newest(RecordKey key) {
		return translated(this.store.history(key, 1))
			.thenApply((versions) -> versions.isEmpty() ? null : versions.get(0));
	}

	CompletionStage<RecordVersion> write(Edit edit, Author author) {
		return write(List.of(edit), author).thenApply((versions) -> versions.get(0));
	}

	CompletionStage<List<RecordVersion>> write(List<Edit> edits, Author author) {
		ReplicaState.Incident incident = this.replica.state().incident();
		if (incident != null) {
			throw new StoreUnavailableException("The policy store has lost data: " + incident.text()
					+ ". Let this instance reseed it or accept what it has first", null);
		}
		return translated(this.store.write(edits, this.replica.seen(), author.actor(), author.reason()));
	}

	/** Fails with a {@link NotFoundException} of this message if there is no record. */
	CompletionStage<RecordVersion> delete(RecordKey key, String missing, @Nullable Long expect, Author author) {
		return newest(key).thenCompose((newest) -> {
			if (newest == null || newest.deleted()) {
				throw new NotFoundException(missing);
			}
			return write(new Edit(key, null, expect), author);
		});
	}

	static <T> CompletionStage<T> translated(CompletionStage<T> stage) {
		return stage.exceptionallyCompose((failure) -> {
			Throwable cause = Futures.cause(failure);
			boolean known = cause instanceof ConflictException || cause instanceof ConfirmationException
					|| cause instanceof StoreIncidentException;
			String message = (cause instanceof StoreLostException) ? String.valueOf(cause.getMessage())
					: "The policy store cannot be reached; if it was only slow, the write may still arrive";
			return CompletableFuture.failedStage(known ? cause : new StoreUnavailableException(message, cause));
		});
	}

}
