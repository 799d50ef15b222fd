package dev.ratelimit.benchmarks.gateway;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What a profile of the gateway says about our filter. A sample counts as ours if the
 * processor worked for our code: a frame of ours is on the stack, and nothing above it
 * goes on with the request. When a check is done, our frames call the rest of the
 * gateway, which must not count.
 *
 * @param failedShare of the requests meanwhile: an outage has another profile
 * @param samples how many there are
 * @param ours share of the samples that are ours
 * @param lettuce share of other samples on the threads of the Redis client
 * @param classes of our samples, those of each class next to the top, largest first
 */
record Profile(double failedShare, long samples, double ours, double lettuce, Map<String, Double> classes) {

	private static final String OURS = "dev/ratelimit/";

	private static final String BENCHMARK = "dev/ratelimit/benchmarks/";

	/** Frames that go on with the request. */
	private static final List<String> ONWARD = List.of("org/springframework/cloud/gateway/filter/",
			"org/springframework/cloud/gateway/handler/", "org/springframework/web/server/handler/",
			"org/springframework/web/server/adapter/HttpWebHandlerAdapter", "org/springframework/web/reactive/",
			"reactor/netty/http/", "io/netty/handler/codec/http/HttpServerCodec",
			"io/netty/handler/codec/http/HttpClientCodec", "io/netty/handler/codec/http/HttpObject");

	/** How many classes are kept. */
	private static final int TOP = 12;

	/**
	 * Reads a profile.
	 * @param failedShare of the requests meanwhile
	 * @param lines stacks from thread to top, separated by semicolons, and the number of
	 * their samples
	 */
	static Profile of(double failedShare, Stream<String> lines) {
		long[] counts = new long[3];
		Map<String, Long> classes = new TreeMap<>();
		lines.filter((line) -> !line.isBlank()).forEach((line) -> {
			int end = line.lastIndexOf(' ');
			long samples = Long.parseLong(line.substring(end + 1));
			String[] frames = line.substring(0, end).split(";");
			counts[0] += samples;
			String found = ours(frames);
			if (found != null) {
				counts[1] += samples;
				classes.merge(found, samples, Long::sum);
			}
			else if (frames[0].startsWith("[lettuce")) {
				counts[2] += samples;
			}
		});
		double all = Math.max(1, counts[0]);
		Map<String, Double> top = classes.entrySet()
			.stream()
			.sorted(Map.Entry.<String, Long>comparingByValue().reversed())
			.limit(TOP)
			.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> entry.getValue() / all, (one, other) -> one,
					LinkedHashMap::new));
		return new Profile(failedShare, counts[0], counts[1] / all, counts[2] / all, top);
	}

	/** The class of ours next to the top, {@code null} if the sample is not ours. */
	private static @Nullable String ours(String[] frames) {
		for (int i = frames.length - 1; i >= 0; i--) {
			String frame = frames[i];
			if (ONWARD.stream().anyMatch(frame::startsWith)) {
				return null;
			}
			if (frame.startsWith(OURS) && !frame.startsWith(BENCHMARK)) {
				return frame.substring(OURS.length()).replaceAll("[.$].*", "");
			}
		}
		return null;
	}

}
