/**
 * What the edges share: who calls, what it costs, and what the answer looks like in HTTP.
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
