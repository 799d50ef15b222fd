package dev.ratelimit.web.reactive;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.HttpHandlerDecoratorFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Keeps Reactor Netty reading from connections whose next request came early and had to
 * queue. Before 1.3.8 it never reads again if that request is answered before its end has
 * left the queue too, as a refusal is (reactor/reactor-netty#4361). Handling a request as
 * a task of its own lets the queue be emptied first.
 */
final class QueuedRequests implements HttpHandlerDecoratorFactory {

	private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

	private final EventLoops loops = new EventLoops();

	/**
	 * Whether a version of Reactor Netty has the fault. No 1.2 is known to have the fix.
	 * @param version version in the manifest, {@code null} if there is none
	 */
	static boolean neededBy(@Nullable String version) {
		Matcher matcher = VERSION.matcher((version != null) ? version : "");
		if (!matcher.matches()) {
			return true;
		}
		int major = Integer.parseInt(matcher.group(1));
		int minor = Integer.parseInt(matcher.group(2));
		int patch = Integer.parseInt(matcher.group(3));
		return major < 1 || major == 1 && (minor < 3 || minor == 3 && patch < 8);
	}

	@Override
	public HttpHandler apply(HttpHandler handler) {
		return (request, response) -> {
			Scheduler loop = this.loops.find(request);
			return (loop != null) ? Mono.defer(() -> handler.handle(request, response)).subscribeOn(loop)
					: handler.handle(request, response);
		};
	}

}
