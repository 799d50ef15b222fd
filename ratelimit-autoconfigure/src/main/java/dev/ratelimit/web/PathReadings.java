package dev.ratelimit.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The ways in which a path can be understood. Servers disagree on {@code ..} and on
 * encoded slashes, and the limiter does not know which of them is upstream; a caller must
 * not choose its price by a spelling that we and the upstream read differently. A path
 * has three readings, which for nearly all paths are the same: decoded and then resolved,
 * segment by segment as it was sent, and this with its dots resolved, where an encoded
 * slash ends no segment.
 *
 * <p>
 * In all, percent-encoding is decoded once, path parameters are dropped, slashes are
 * collapsed and a trailing one is ignored.
 */
public final class PathReadings {

	private PathReadings() {
	}

	/**
	 * The ways in which a path can be understood, each once.
	 * @param rawPath as it was sent
	 */
	public static List<String> of(String rawPath) {
		if (isPlain(rawPath)) {
			return List.of(rawPath);
		}
		List<String> asSent = segments(rawPath);
		asSent.replaceAll((segment) -> decode(segment).replace("/", "%2F"));
		return Stream.of(path(resolved(segments(decode(rawPath)))), path(asSent), path(resolved(asSent)))
			.distinct()
			.toList();
	}

	/** Nearly all paths are, and then nothing has to be copied. */
	private static boolean isPlain(String path) {
		int length = path.length();
		if (length < 2 || path.charAt(0) != '/' || path.charAt(length - 1) == '/') {
			return false;
		}
		for (int i = 0; i < length; i++) {
			char c = path.charAt(i);
			if (c == '%' || c == ';' || (c == '/' && (path.charAt(i + 1) == '/' || path.charAt(i + 1) == '.'))) {
				return false;
			}
		}
		return true;
	}

	private static List<String> resolved(List<String> segments) {
		List<String> resolved = new ArrayList<>();
		for (String segment : segments) {
			if (segment.equals("..")) {
				if (!resolved.isEmpty()) {
					resolved.remove(resolved.size() - 1);
				}
			}
			else if (!segment.equals(".")) {
				resolved.add(segment);
			}
		}
		return resolved;
	}

	private static String path(List<String> segments) {
		return "/" + String.join("/", segments);
	}

	/** The segments that have something in them, without their parameters. */
	private static List<String> segments(String path) {
		List<String> segments = new ArrayList<>();
		int start = 0;
		int end = -1;
		for (int i = 0; i <= path.length(); i++) {
			char c = (i < path.length()) ? path.charAt(i) : '/';
			if (end < start && (c == '/' || c == ';')) {
				end = i;
			}
			if (c == '/') {
				if (end > start) {
					segments.add(path.substring(start, end));
				}
				start = i + 1;
			}
		}
		return segments;
	}

	/** Decodes once; what is no encoding stays as it is. */
	private static String decode(String text) {
		if (text.indexOf('%') < 0) {
			return text;
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		int length = 0;
		for (int i = 0; i < bytes.length; i++) {
			int high = (bytes[i] == '%' && i + 2 < bytes.length) ? Character.digit(bytes[i + 1], 16) : -1;
			int low = (high >= 0) ? Character.digit(bytes[i + 2], 16) : -1;
			if (low >= 0) {
				bytes[length++] = (byte) (high * 16 + low);
				i += 2;
			}
			else {
				bytes[length++] = bytes[i];
			}
		}
		return new String(bytes, 0, length, StandardCharsets.UTF_8);
	}

}
