/**
 * Changes at run time: checks and writes them, and puts them in force on this instance.
 */
@NullMarked
package dev.ratelimit.control;

import org.jspecify.annotations.NullMarked;
