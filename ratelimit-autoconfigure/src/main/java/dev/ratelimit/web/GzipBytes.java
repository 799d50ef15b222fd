package dev.ratelimit.web;

import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Inflates a gzip body that streams by, with any header and any number of members, in a
 * copy of 4 KB. It reads at most 16 MB of content, and 256 KB of headers and trailers.
 * Checksums are not compared: the client does that.
 */
final class GzipBytes implements AutoCloseable {

	private static final long MOST_INFLATED = 16 << 20;

	private static final int MOST_OVERHEAD = 256 << 10;

	private static final int HEADER = 10;

	private static final int TRAILER = 8;

	private static final int CHECKSUM = 2;

	private static final int EXTRA = 4;

	private static final int NAME = 8;

	private static final int COMMENT = 16;

	private final Reader reader;

	private final Inflater inflater = new Inflater(true);

	private final byte[] copy = new byte[4_096];

	private State state = State.HEADER;

	/** Bytes of the current state that were read. */
	private int read;

	private int flags;

	private int extra;

	private int members;

	private int overhead;

	private long inflated;

	/**
	 * @param reader gets the content
	 */
	GzipBytes(Reader reader) {
		this.reader = reader;
	}

	/** Reads a part of the body. Never throws. */
	void read(ByteBuffer part) {
		ByteBuffer compressed = part.duplicate();
		while (compressed.hasRemaining() && this.state != State.ENDED && this.state != State.FAILED) {
			if (this.state == State.CONTENT) {
				inflate(compressed);
			}
			else if (++this.overhead > MOST_OVERHEAD) {
				this.state = State.FAILED;
			}
			else {
				readByte(compressed.get() & 0xff);
			}
		}
	}

	boolean failed() {
		return this.state == State.FAILED;
	}

	private void readByte(int next) {
		this.read++;
		switch (this.state) {
			case HEADER -> readHeader(next);
			case EXTRA -> {
				this.extra |= (this.read <= 2) ? next << 8 * (this.read - 1) : 0;
				if (this.read >= 2 && this.read == 2 + this.extra) {
					enter(State.NAME);
				}
			}
			case NAME, COMMENT -> {
				if (next == 0) {
					enter((this.state == State.NAME) ? State.COMMENT : State.CHECKSUM);
				}
			}
			case CHECKSUM -> {
				if (this.read == CHECKSUM) {
					enter(State.CONTENT);
				}
			}
			case TRAILER -> {
				if (this.read == TRAILER) {
					this.members++;
					this.inflater.reset();
					enter(State.HEADER);
				}
			}
			default -> throw new IllegalStateException("not read byte by byte: " + this.state);
		}
	}

	private void readHeader(int next) {
		boolean expected = switch (this.read) {
			case 1 -> next == 0x1f;
			case 2 -> next == 0x8b;
			default -> true;
		};
		if (!expected) {
			// Other bytes may follow the last member.
			this.state = (this.members > 0) ? State.ENDED : State.FAILED;
		}
		else if (this.read == 4) {
			this.flags = next;
		}
		else if (this.read == HEADER) {
			enter(State.EXTRA);
		}
	}

	/** Begins a state, or the next one if the header leaves its field out. */
	private void enter(State state) {
		this.read = 0;
		this.extra = 0;
		this.state = switch (state) {
			case EXTRA -> has(EXTRA) ? state : has(NAME) ? State.NAME : has(COMMENT) ? State.COMMENT : checksum();
			case NAME -> has(NAME) ? state : has(COMMENT) ? State.COMMENT : checksum();
			case COMMENT -> has(COMMENT) ? state : checksum();
			case CHECKSUM -> checksum();
			default -> state;
		};
	}

	private State checksum() {
		return has(CHECKSUM) ? State.CHECKSUM : State.CONTENT;
	}

	private boolean has(int flag) {
		return (this.flags & flag) != 0;
	}

	private void inflate(ByteBuffer compressed) {
		try {
			this.inflater.setInput(compressed);
			int length = this.inflater.inflate(this.copy);
			while (length > 0 && this.inflated <= MOST_INFLATED) {
				this.inflated += length;
				for (int i = 0; i < length; i++) {
					this.reader.read(this.copy[i]);
				}
				length = this.inflater.inflate(this.copy);
			}
			if (this.inflated > MOST_INFLATED) {
				this.state = State.FAILED;
			}
			else if (this.inflater.finished()) {
				enter(State.TRAILER);
			}
		}
		catch (DataFormatException ex) {
			this.state = State.FAILED;
		}
	}

	@Override
	public void close() {
		this.inflater.end();
	}

	private enum State {

		HEADER, EXTRA, NAME, COMMENT, CHECKSUM, CONTENT, TRAILER, ENDED, FAILED

	}

	/**
	 * Reads inflated bytes, one by one.
	 */
	@FunctionalInterface
	interface Reader {

		void read(byte next);

	}

}
