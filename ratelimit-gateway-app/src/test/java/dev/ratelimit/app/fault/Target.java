package dev.ratelimit.app.fault;

import java.net.URI;

/** Where calls go, and the policy that holds there. */
record Target(String policy, URI uri) {
}
