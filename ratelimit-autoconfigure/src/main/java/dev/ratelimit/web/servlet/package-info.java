/**
 * HTTP calls of the servlet stack: {@link ServletWebCall} reads them,
 * {@link ServletDecisions} answers them, {@link UrlLimitFilter} checks URL entries with
 * {@link CorsHeaders} on refusals, and {@link LimitedResponse} sees the head and the body
 * of a response through {@link TappedOutputStream} and {@link TappedWriter}.
 */
@NullMarked
package dev.ratelimit.web.servlet;

import org.jspecify.annotations.NullMarked;
