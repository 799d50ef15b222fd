package dev.ratelimit.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The ways in which a path can be understood. Servers disagree on {@code ..}, on encoded
 * slashes, on path parameters and on backslashes, and the limiter does not know which of
 * them is upstream; a caller must not choose its price by a spelling that we and the
 * upstream read differently. A path has one reading for each combination of these
 * choices, which for nearly all paths are the same:
 * <ul>
 * <li>an encoded slash ends a segment, or not;</li>
 * <li>path parameters are dropped, before or after decoding, or are text;</li>
 * <li>dots stay as they were sent, or are resolved, with empty segments dropped before
 * (Tomcat) or after (RFC 3986, WHATWG);</li>
 * <li>a backslash is text, or separates segments, encoded or not.</li>
 * </ul>
 *
 * <p>
 * In all, percent-encoding is decoded once, slashes are collapsed and a trailing one is
 * ignored.
 */
public final class PathReadings {

	/** A variable of a path pattern; its expression may have braces of its own. */
	private static final Pattern VARIABLE = Pattern.compile("\\{(?:[^{}]++|\\{[^{}]*+})*+}");

	private static final Pattern QUERY = Pattern.compile("\\?[^/?&=*]+=");

	/** Encoded characters that are wildcards or braces in a pattern. */
	private static final Pattern SPECIAL = Pattern.compile("%(2A|3F|7B|7D)", Pattern.CASE_INSENSITIVE);

	private PathReadings() {
	}

	/**
	 * Checks that a path pattern can match a reading.
	 * @throws IllegalArgumentException if it cannot, with the pattern to write instead
	 */
	static void requireReadable(String pattern) {
		Matcher query = QUERY.matcher(VARIABLE.matcher(pattern).replaceAll("{}"));
		if (query.find()) {
			throw new IllegalArgumentException("a path has no query string, write "
					+ pattern.substring(0, pattern.indexOf(query.group())) + " instead of " + pattern);
		}
		String readable = readable(pattern);
		if (!readable.equals(pattern)) {
			throw new IllegalArgumentException("paths are compared decoded and without empty segments, write "
					+ readable + " instead of " + pattern);
		}
	}

	private static String readable(String pattern) {
		StringBuilder readable = new StringBuilder(pattern.length());
		Matcher variable = VARIABLE.matcher(pattern);
		int start = 0;
		while (variable.find()) {
			readable.append(literal(pattern.substring(start, variable.start()))).append(variable.group());
			start = variable.end();
		}
		return readable.append(literal(pattern.substring(start))).toString();
	}

	/** An encoded slash stays: one reading has it. */
	private static String literal(String text) {
		return Stream.of(text.split("%2[Ff]", -1))
			.map((part) -> decode(SPECIAL.matcher(part).replaceAll("?")))
			.collect(Collectors.joining("%2F"))
			.replaceAll("/{2,}", "/");
	}

	/**
	 * The ways in which a path can be understood, each once; the first is decoded,
	 * resolved and without parameters.
	 * @param rawPath as it was sent
	 */
	public static List<String> of(String rawPath) {
		if (isPlain(rawPath)) {
			return List.of(rawPath);
		}
		Set<String> readings = new LinkedHashSet<>();
		for (String path : separated(rawPath)) {
			String named = withoutParameters(path);
			read(segments(withoutParameters(decode(path))), readings);
			read(segments(decode(named)), readings);
			read(segments(decode(path)), readings);
			read(decoded(segments(named)), readings);
			read(decoded(segments(path)), readings);
		}
		return List.copyOf(readings);
	}

	/** Nearly all paths are, and then nothing has to be copied. */
	private static boolean isPlain(String path) {
		int length = path.length();
		if (length < 2 || path.charAt(0) != '/' || path.charAt(length - 1) == '/') {
			return false;
		}
		for (int i = 0; i < length; i++) {
			char c = path.charAt(i);
			if (c == '%' || c == ';' || c == '\\'
					|| (c == '/' && (path.charAt(i + 1) == '/' || path.charAt(i + 1) == '.'))) {
				return false;
			}
		}
		return true;
	}

	/** The path with its backslashes as text, as separators, and encoded ones too. */
	private static Set<String> separated(String path) {
		String plain = path.replace('\\', '/');
		return new LinkedHashSet<>(List.of(path, plain, plain.replace("%5c", "/").replace("%5C", "/")));
	}

	private static void read(List<String> segments, Set<String> readings) {
		List<String> filled = filled(segments);
		readings.add(path(resolved(filled)));
		readings.add(path(filled));
		readings.add(path(filled(resolved(segments))));
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

	private static List<String> filled(List<String> segments) {
		List<String> filled = new ArrayList<>(segments);
		filled.removeIf(String::isEmpty);
		return filled;
	}

	private static String path(List<String> segments) {
		return "/" + String.join("/", segments);
	}

	private static List<String> segments(String path) {
		List<String> segments = new ArrayList<>();
		int start = path.startsWith("/") ? 1 : 0;
		for (int end = path.indexOf('/', start); end >= 0; end = path.indexOf('/', start)) {
			segments.add(path.substring(start, end));
			start = end + 1;
		}
		segments.add(path.substring(start));
		return segments;
	}

	/** Segment by segment: an encoded slash ends none. */
	private static List<String> decoded(List<String> segments) {
		segments.replaceAll((segment) -> decode(segment).replace("/", "%2F"));
		return segments;
	}

	private static String withoutParameters(String path) {
		if (path.indexOf(';') < 0) {
			return path;
		}
		StringBuilder text = new StringBuilder(path.length());
		boolean parameter = false;
		for (int i = 0; i < path.length(); i++) {
			char c = path.charAt(i);
			parameter = c == ';' || (parameter && c != '/');
			if (!parameter) {
				text.append(c);
			}
		}
		return text.toString();
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
