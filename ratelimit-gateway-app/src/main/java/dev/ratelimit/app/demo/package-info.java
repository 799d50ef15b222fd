/**
 * What profile {@code demo} adds so that a newcomer can try the limits with nothing but
 * {@code curl}: an echo upstream and tokens signed with a key that everybody knows.
 */
@NullMarked
package dev.ratelimit.app.demo;

import org.jspecify.annotations.NullMarked;
