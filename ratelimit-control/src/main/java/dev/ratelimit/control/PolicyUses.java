package dev.ratelimit.control;

import java.util.List;

/**
 * Knows what names policies: routes, annotations.
 */
@FunctionalInterface
public interface PolicyUses {

	/**
	 * What names a policy, such as {@code route 'orders'}; empty if nothing does.
	 */
	List<String> of(String policy);

}
