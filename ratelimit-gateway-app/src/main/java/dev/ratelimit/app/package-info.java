/**
 * The runnable gateway: who may call what. Everything about limits comes from the
 * starter.
 */
@NullMarked
package dev.ratelimit.app;

import org.jspecify.annotations.NullMarked;
