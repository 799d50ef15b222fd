package dev.ratelimit.web;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

import org.jspecify.annotations.Nullable;

/**
 * Reads the true cost of a request from a response body that streams by: from JSON, or
 * from the last server-sent events that name it. The body is neither kept nor held back.
 * Compressed bodies are inflated in a copy of 4 KB, and at most 16 MB of them are read.
 */
public final class CostReader implements AutoCloseable {

	private static final long MOST_INFLATED = 16 << 20;

	private static final int GZIP_HEADER = 10;

	private static final byte[] DATA = { 'd', 'a', 't', 'a', ':' };

	private final JsonNumbers numbers;

	private final boolean events;

	private final @Nullable Inflater inflater;

	private final byte[] copy;

	private final byte[] header = new byte[GZIP_HEADER];

	private int headerLength;

	private long inflated;

	private boolean failed;

	/** How much of "data:" the line has so far; negative if it is another line. */
	private int line;

	private boolean lineIsEmpty = true;

	private boolean eventHasData;

	private long dataEvents;

	private boolean closed;

	private CostReader(List<String> paths, boolean events, boolean gzip) {
		this.numbers = new JsonNumbers(paths);
		this.events = events;
		this.inflater = gzip ? new Inflater(true) : null;
		this.copy = gzip ? new byte[4_096] : new byte[0];
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
		Inflater inflater = this.inflater;
		for (int i = part.position(); inflater == null && i < part.limit(); i++) {
			readByte(part.get(i));
		}
		if (inflater == null || this.failed) {
			return;
		}
		ByteBuffer compressed = part.duplicate();
		while (compressed.hasRemaining() && this.headerLength < GZIP_HEADER) {
			this.header[this.headerLength++] = compressed.get();
		}
		if (this.headerLength < GZIP_HEADER) {
			return;
		}
		// A header with a file name or a comment is as long as it likes.
		this.failed = this.header[0] != (byte) 0x1f || this.header[1] != (byte) 0x8b || this.header[3] != 0;
		if (!this.failed) {
			inflate(inflater, compressed);
		}
	}

	private void inflate(Inflater inflater, ByteBuffer compressed) {
		try {
			inflater.setInput(compressed);
			int length = inflater.inflate(this.copy);
			while (length > 0 && this.inflated <= MOST_INFLATED) {
				this.inflated += length;
				for (int i = 0; i < length; i++) {
					readByte(this.copy[i]);
				}
				length = inflater.inflate(this.copy);
			}
			this.failed = this.inflated > MOST_INFLATED;
		}
		catch (DataFormatException ex) {
			this.failed = true;
		}
	}

	private void readByte(byte next) {
		if (!this.events) {
			this.numbers.read(next);
			return;
		}
		if (next == '\n') {
			if (this.lineIsEmpty) {
				endEvent();
			}
			this.numbers.read(next);
			this.line = 0;
			this.lineIsEmpty = true;
		}
		else if (next != '\r') {
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
		Long named = this.failed ? null : this.numbers.sum();
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
		if (this.inflater != null) {
			this.inflater.end();
		}
	}

}
