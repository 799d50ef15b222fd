/**
 * The strict JSON reader and writer of records, requests and answers: {@link JsonReader},
 * {@link Json}, and {@link JsonObject}, which leaves out what is {@code null}.
 */
@NullMarked
package dev.ratelimit.json;

import org.jspecify.annotations.NullMarked;
