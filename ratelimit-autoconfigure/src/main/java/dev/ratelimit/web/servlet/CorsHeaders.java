package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.cors.DefaultCorsProcessor;
import org.springframework.web.filter.CorsFilter;

/**
 * Gives an answer that comes before the application's CORS filter the headers that this
 * filter would have given it: otherwise a browser would hide a 429 and its Retry-After
 * from the script that made the request.
 */
public final class CorsHeaders {

	private final Function<HttpServletRequest, List<CorsFilter>> filters;

	private final Supplier<List<CorsConfigurationSource>> sources;

	private final DefaultCorsProcessor processor = new DefaultCorsProcessor();

	/**
	 * Creates it.
	 * @param filters the application's filters for a request
	 * @param sources settings that other filters and Spring MVC use
	 */
	public CorsHeaders(Function<HttpServletRequest, List<CorsFilter>> filters,
			Supplier<List<CorsConfigurationSource>> sources) {
		this.filters = filters;
		this.sources = sources;
	}

	/**
	 * Sets the headers and then writes the answer. A request from an origin that is not
	 * allowed gets the answer of CORS instead.
	 */
	void write(HttpServletRequest request, HttpServletResponse response, Answer answer)
			throws IOException, ServletException {
		if (!isCorsRequest(request)) {
			answer.write();
			return;
		}
		write(this.filters.apply(request), request, response, () -> {
			if (isValid(request, response)) {
				answer.write();
			}
		});
	}

	private static void write(List<CorsFilter> filters, HttpServletRequest request, HttpServletResponse response,
			Answer answer) throws IOException, ServletException {
		if (filters.isEmpty()) {
			answer.write();
			return;
		}
		filters.get(0)
			.doFilter(request, response,
					(next, written) -> write(filters.subList(1, filters.size()), request, response, answer));
	}

	/** Spring cannot read every origin that a caller may send. */
	private static boolean isCorsRequest(HttpServletRequest request) {
		try {
			return CorsUtils.isCorsRequest(request);
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			return false;
		}
	}

	private boolean isValid(HttpServletRequest request, HttpServletResponse response) throws IOException {
		for (CorsConfigurationSource source : this.sources.get()) {
			CorsConfiguration configuration = source.getCorsConfiguration(request);
			if (configuration != null && !this.processor.processRequest(configuration, request, response)) {
				return false;
			}
		}
		return true;
	}

	/** Writes an answer. */
	@FunctionalInterface
	interface Answer {

		void write() throws IOException, ServletException;

	}

}
