package dev.ratelimit.web;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;
import dev.ratelimit.Settling;

/**
 * Finds numbers in JSON that streams by, byte after byte. It keeps the place in the
 * document, the current name and the current number, and nothing else: about 300 bytes
 * for a document of any size. It does not check the document. What is in an array has no
 * path.
 */
final class JsonNumbers {

	/** Deeper objects have no path. */
	private static final int MAX_DEPTH = 32;

	private static final int MAX_NAME = 64;

	private static final int MAX_NUMBER = 40;

	private final byte[][][] paths;

	/** The last number of each path, negative if there was none. */
	private final long[] found;

	/** The paths that lead to each open object, one bit for each path. */
	private final int[] leading = new int[MAX_DEPTH];

	private final boolean[] object = new boolean[MAX_DEPTH];

	private final byte[] name = new byte[MAX_NAME];

	private int nameLength;

	private final byte[] number = new byte[MAX_NUMBER];

	private int numberLength;

	/** How many objects and arrays are open. */
	private int depth;

	private boolean inString;

	private boolean escaped;

	private boolean expectsName;

	private boolean inName;

	/** The paths that lead to the value that comes next. */
	private int next;

	/** The paths that end with the number that is read. */
	private int reading;

	JsonNumbers(List<String> paths) {
		this.paths = paths.stream()
			.map((path) -> Arrays.stream(path.split("\\."))
				.map((part) -> part.getBytes(StandardCharsets.UTF_8))
				.toArray(byte[][]::new))
			.toArray(byte[][][]::new);
		this.found = new long[this.paths.length];
		Arrays.fill(this.found, -1);
		begin();
	}

	/**
	 * Begins another document. What was found stays until it is found again.
	 */
	void begin() {
		this.depth = 0;
		this.inString = false;
		this.escaped = false;
		this.expectsName = false;
		this.next = (1 << this.paths.length) - 1;
		this.reading = 0;
		this.numberLength = 0;
	}

	/**
	 * The sum of the numbers, {@code null} if none was found.
	 */
	@Nullable Long sum() {
		long sum = 0;
		boolean any = false;
		for (long number : this.found) {
			sum += Math.max(0, number);
			any |= number >= 0;
		}
		return any ? (Long) Math.min(sum, Quota.MAX_PERMITS) : null;
	}

	void read(byte next) {
		if (this.inString) {
			readString(next);
			return;
		}
		switch (next) {
			case '"' -> {
				this.inString = true;
				this.inName = this.expectsName;
				this.nameLength = 0;
			}
			case '{', '[' -> open(next == '{');
			case '}', ']' -> {
				endNumber();
				this.depth = Math.max(0, this.depth - 1);
				this.expectsName = false;
				this.next = 0;
			}
			case ',' -> {
				endNumber();
				this.expectsName = this.depth > 0 && this.depth <= MAX_DEPTH && this.object[this.depth - 1];
				this.next = 0;
			}
			case ':' -> this.expectsName = false;
			case ' ', '\t', '\r', '\n' -> endNumber();
			default -> readNumber(next);
		}
	}

	private void readString(byte next) {
		if (this.escaped) {
			this.escaped = false;
			this.nameLength = MAX_NAME + 1;
		}
		else if (next == '\\') {
			this.escaped = true;
		}
		else if (next == '"') {
			this.inString = false;
			if (this.inName) {
				this.next = named();
			}
		}
		else if (this.inName) {
			if (this.nameLength < MAX_NAME) {
				this.name[this.nameLength] = next;
			}
			this.nameLength = Math.min(this.nameLength + 1, MAX_NAME + 1);
		}
	}

	/** The paths that go on with the name that was read. */
	private int named() {
		int at = this.depth - 1;
		int named = 0;
		for (int i = 0; at >= 0 && at < MAX_DEPTH && this.nameLength <= MAX_NAME && i < this.paths.length; i++) {
			if ((this.leading[at] & 1 << i) != 0 && at < this.paths[i].length
					&& Arrays.equals(this.paths[i][at], 0, this.paths[i][at].length, this.name, 0, this.nameLength)) {
				named |= 1 << i;
			}
		}
		return named;
	}

	private void open(boolean object) {
		if (this.depth < MAX_DEPTH) {
			this.leading[this.depth] = object ? this.next : 0;
			this.object[this.depth] = object;
		}
		this.depth++;
		this.expectsName = object;
		this.next = 0;
	}

	private void readNumber(byte next) {
		if (this.numberLength == 0) {
			this.reading = 0;
			for (int i = 0; i < this.paths.length; i++) {
				this.reading |= (this.depth == this.paths[i].length) ? this.next & 1 << i : 0;
			}
		}
		if (this.numberLength < MAX_NUMBER) {
			this.number[this.numberLength] = next;
		}
		this.numberLength = Math.min(this.numberLength + 1, MAX_NUMBER + 1);
	}

	private void endNumber() {
		if (this.numberLength > 0 && this.numberLength <= MAX_NUMBER && this.reading != 0) {
			Long cost = Settling.cost(new String(this.number, 0, this.numberLength, StandardCharsets.ISO_8859_1));
			for (int i = 0; cost != null && i < this.paths.length; i++) {
				if ((this.reading & 1 << i) != 0) {
					this.found[i] = cost;
				}
			}
		}
		this.numberLength = 0;
		this.reading = 0;
	}

}
