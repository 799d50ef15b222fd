package dev.ratelimit.web;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Reads the true cost of a request from a response body that streams by: from JSON, or
 * from the last server-sent events that name it. The body is neither kept nor held back.
 * Of compressed bodies at most 16 MB are read, see {@link GzipBytes}.
 */
public final class CostReader implements AutoCloseable {

	private static final byte[] DATA = { 'd', 'a', 't', 'a', ':' };

	private final JsonNumbers numbers;

	private final boolean events;

	private final @Nullable GzipBytes gzip;

	/** How much of "data:" the line has so far; negative if it is another line. */
	private int line;

	private boolean lineIsEmpty = true;

	/** Whether the last byte was a carriage return, which has ended a line. */
	private boolean returned;

	private boolean eventHasData;

	private long dataEvents;

	private boolean closed;

	private CostReader(List<String> paths, boolean events, boolean gzip) {
		this.numbers = new JsonNumbers(paths);
		this.events = events;
		this.gzip = gzip ? new GzipBytes(this::readByte) : null;
	}

	/**
	 * A reader of a body.
	 * @param paths fields with the cost
	 * @param contentType its type; JSON and event streams are read
	 * @param contentEncoding its encoding; gzip is read
	 * @return {@code null} if such a body cannot be read
	 */
	public static @Nullable CostReader of(List<String> paths, @Nullable String contentType,
			@Nullable String contentEncoding) {
		String type = (contentType != null) ? contentType.toLowerCase(Locale.ROOT) : "";
		boolean events = type.startsWith("text/event-stream");
		boolean json = type.startsWith("application/json") || type.matches("application/[^;]*\\+json.*");
		String encoding = (contentEncoding != null) ? contentEncoding.strip().toLowerCase(Locale.ROOT) : "";
		boolean gzip = encoding.equals("gzip") || encoding.equals("x-gzip");
		boolean readable = gzip || encoding.isEmpty() || encoding.equals("identity");
		return (readable && (events || json)) ? new CostReader(paths, events, gzip) : null;
	}

	/**
	 * Reads a part of the body. Its position stays where it is. Never throws.
	 */
	public synchronized void read(ByteBuffer part) {
		if (this.closed) {
			return;
		}
		if (this.gzip != null) {
			this.gzip.read(part);
			return;
		}
		for (int i = part.position(); i < part.limit(); i++) {
			readByte(part.get(i));
		}
	}

	private void readByte(byte next) {
		if (!this.events) {
			this.numbers.read(next);
			return;
		}
		boolean lineIsOver = this.returned;
		this.returned = next == '\r';
		if (next == '\r' || next == '\n' && !lineIsOver) {
			endLine();
		}
		else if (next != '\n') {
			this.lineIsEmpty = false;
			if (this.line == DATA.length) {
				this.eventHasData = true;
				this.numbers.read(next);
			}
			else if (this.line >= 0) {
				this.line = (DATA[this.line] == next) ? this.line + 1 : -1;
			}
		}
	}

	private void endLine() {
		if (this.lineIsEmpty) {
			endEvent();
		}
		this.numbers.read((byte) '\n');
		this.line = 0;
		this.lineIsEmpty = true;
	}

	private void endEvent() {
		this.dataEvents += this.eventHasData ? 1 : 0;
		this.eventHasData = false;
		this.numbers.begin();
	}

	/**
	 * The true cost. A stream of events that names no cost costs at least its number of
	 * events: leaving the number out must not be a discount. Nor must hanging up, so a
	 * body that was cut off costs at least the estimate, whatever it has named so far.
	 * @param estimate what was taken
	 * @param complete whether the body was sent to its end
	 * @return {@code null} if the estimate stands
	 */
	public synchronized @Nullable Long cost(long estimate, boolean complete) {
		Long named = (this.gzip != null && this.gzip.failed()) ? null : this.numbers.sum();
		if (named != null && complete) {
			return named;
		}
		if (named == null && !this.events) {
			return null;
		}
		long events = this.events ? this.dataEvents + (this.eventHasData ? 1 : 0) : 0;
		return Math.max((named != null) ? named : 0, Math.max(estimate, events));
	}

	/** A client that hangs up ends this while a buffer may be read by another thread. */
	@Override
	public synchronized void close() {
		this.closed = true;
		if (this.gzip != null) {
			this.gzip.close();
		}
	}

}
