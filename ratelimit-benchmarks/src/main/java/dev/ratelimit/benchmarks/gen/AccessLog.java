package dev.ratelimit.benchmarks.gen;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.load.Arrival;
import dev.ratelimit.benchmarks.load.Arrivals;

/**
 * An access log in the combined format, to be sent again. The format has whole seconds:
 * the requests of one second are spread evenly over it.
 *
 * @param requests in the order of their times
 * @param skipped lines that are not in the format
 */
record AccessLog(List<Entry> requests, int skipped) {

	/** Client, identity, user, time, method and target; the rest does not matter here. */
	private static final Pattern LINE = Pattern
		.compile("(\\S+) \\S+ (\\S+) \\[([^\\]]+)\\] \"([A-Z]+) ([^ \"]+)(?: HTTP/[0-9.]+)?\" .*");

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH);

	static AccessLog read(Path file) throws IOException {
		List<Entry> requests = new ArrayList<>();
		int skipped = 0;
		// Any byte is a character, so that no line fails to decode.
		try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				Entry entry = parse(line);
				if (entry != null) {
					requests.add(entry);
				}
				else {
					skipped++;
				}
			}
		}
		// Servers write a line when the answer is sent, so the order is not that of
		// times.
		requests.sort(Comparator.comparingLong(Entry::second));
		if (requests.isEmpty()) {
			throw new IllegalArgumentException(file + " has no line in the combined format");
		}
		return new AccessLog(requests, skipped);
	}

	static @Nullable Entry parse(String line) {
		Matcher matcher = LINE.matcher(line);
		if (!matcher.matches() || !matcher.group(5).startsWith("/")) {
			return null;
		}
		try {
			long second = OffsetDateTime.parse(matcher.group(3), TIME).toEpochSecond();
			return new Entry(second, matcher.group(1), matcher.group(2), matcher.group(4), matcher.group(5));
		}
		catch (DateTimeException ex) {
			return null;
		}
	}

	/** Seconds from the first request to the end of the last one's second. */
	long seconds() {
		return this.requests.get(this.requests.size() - 1).second() - this.requests.get(0).second() + 1;
	}

	/**
	 * The schedule; the key of a request is its position in the list.
	 * @param speed how many times as fast as the log
	 */
	Arrivals arrivals(double speed) {
		return new Arrivals() {

			private int next;

			/** The first request of the second in which the next one is. */
			private int first;

			private int end;

			@Override
			public @Nullable Arrival next() {
				List<Entry> all = AccessLog.this.requests;
				if (this.next == all.size()) {
					return null;
				}
				long second = all.get(this.next).second();
				if (this.next == this.end) {
					this.first = this.next;
					while (this.end < all.size() && all.get(this.end).second() == second) {
						this.end++;
					}
				}
				double within = (double) (this.next - this.first) / (this.end - this.first);
				long due = (long) ((second - all.get(0).second() + within) * 1e9 / speed);
				return new Arrival(due, this.next++, 1);
			}

		};
	}

	/**
	 * A line.
	 *
	 * @param second when, in seconds since 1970
	 * @param client address or name of the client
	 * @param user name of the user, "-" if there was none
	 * @param method for example GET
	 * @param target path and query
	 */
	record Entry(long second, String client, String user, String method, String target) {
	}

}
