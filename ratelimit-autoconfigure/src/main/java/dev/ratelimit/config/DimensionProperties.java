package dev.ratelimit.config;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * A dimension that needs no code; exactly one of these is set.
 *
 * @param claim Claim of a verified token, by its name or as a path with dots.
 * @param header Header that carries the value.
 * @param query Parameter of the query that carries the value.
 * @param cookie Cookie that carries the value.
 * @param host Whether the value is the host of the request.
 * @param method Whether the value is the method of the request.
 */
public record DimensionProperties(@Nullable String claim, @Nullable String header, @Nullable String query,
		@Nullable String cookie, @DefaultValue("false") boolean host, @DefaultValue("false") boolean method) {
}
