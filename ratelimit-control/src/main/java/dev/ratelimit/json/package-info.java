/**
 * The strict JSON reader and writer of records, requests and answers.
 */
@NullMarked
package dev.ratelimit.json;

import org.jspecify.annotations.NullMarked;
