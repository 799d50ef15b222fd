package dev.ratelimit.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports nodes whose ACL lacks the commands that keep a check cheap. Scripts then use
 * {@code SET}, so nothing fails and nobody else would notice.
 */
final class ForbiddenCommands {

	private static final Logger logger = LoggerFactory.getLogger(ForbiddenCommands.class);

	/** Nodes come and go; from here on new ones are not reported. */
	private static final int MAX_NODES = 1_000;

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	/**
	 * Logs a node once. ACLs belong to nodes, so another one may be fine.
	 */
	void report(String node) {
		if (this.reported.size() < MAX_NODES && this.reported.add(node)) {
			logger
				.error("The ACL of Redis {} forbids SETRANGE, MSETNX or PEXPIREAT. Checks use SET instead, which costs"
						+ " Redis at least a third more. Run 'ACL SETUSER <user> +setrange +msetnx +pexpireat' on every node"
						+ " (docs/redis.md)", node);
		}
	}

}
