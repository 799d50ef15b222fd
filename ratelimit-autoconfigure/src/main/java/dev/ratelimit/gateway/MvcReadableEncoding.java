package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;

import org.springframework.cloud.gateway.server.mvc.filter.HttpHeadersFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.function.ServerRequest;

import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.ReadableEncoding;

/**
 * Asks the upstream of the gateway on WebMVC for a body that can be read, after all other
 * filters of request headers.
 */
final class MvcReadableEncoding implements HttpHeadersFilter.RequestHttpHeadersFilter, Ordered {

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public HttpHeaders apply(HttpHeaders headers, ServerRequest request) {
		List<String> accepted = new ArrayList<>();
		headers.forEach((name, values) -> {
			if (name.equalsIgnoreCase(ReadableEncoding.HEADER)) {
				accepted.addAll(values);
			}
		});
		String encoding = ReadableEncoding
			.of((CallDecisions) request.servletRequest().getAttribute(CallDecisions.ATTRIBUTE), accepted);
		if (encoding == null) {
			return headers;
		}
		HttpHeaders readable = new HttpHeaders();
		headers.forEach((name, values) -> values.forEach((value) -> readable.add(name, value)));
		readable.set(ReadableEncoding.HEADER, encoding);
		return readable;
	}

}
