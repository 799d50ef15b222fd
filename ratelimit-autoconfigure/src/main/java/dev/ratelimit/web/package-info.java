/**
 * Shared by the edges: resolves a call to its caller and cost, checks it, and turns the
 * decision into HTTP.
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
