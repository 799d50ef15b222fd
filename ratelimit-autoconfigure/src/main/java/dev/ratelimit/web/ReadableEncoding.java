package dev.ratelimit.web;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settling;

/**
 * The encoding that a gateway asks its upstream for when the body may name the true cost:
 * a caller must not escape it by an encoding of its choice.
 */
public final class ReadableEncoding {

	/** The header of the request. */
	public static final String HEADER = "Accept-Encoding";

	/** Without a weight, or with one above 0. */
	private static final Pattern GZIP = Pattern
		.compile("\\s*(x-)?gzip\\s*(;\\s*q\\s*=\\s*(1(\\.0*)?|0\\.\\d*[1-9]\\d*)\\s*)?");

	private ReadableEncoding() {
	}

	/**
	 * The value for {@link #HEADER}, {@code null} if the caller's stays.
	 * @param decisions those about the call
	 * @param accepted what the caller sent
	 */
	public static @Nullable String of(@Nullable CallDecisions decisions, List<String> accepted) {
		if (decisions == null || accepted.isEmpty()
				|| decisions.settling().stream().noneMatch(ReadableEncoding::isRead)) {
			return null;
		}
		return acceptsGzip(accepted) ? "gzip" : "identity";
	}

	/** Whether the caller names gzip and does not refuse it by a weight of 0. */
	private static boolean acceptsGzip(List<String> accepted) {
		return Arrays.stream(String.join(",", accepted).toLowerCase(Locale.ROOT).split(","))
			.anyMatch((coding) -> GZIP.matcher(coding).matches());
	}

	private static boolean isRead(Decision decision) {
		Settling settling = decision.receipt().settling();
		return settling != null && !settling.json().isEmpty();
	}

}
