package dev.ratelimit.admin;

/**
 * All operations of administrators, for whatever offers them: an endpoint, a console, a
 * command line.
 *
 * @param overview what is in force
 * @param policies policies and their versions
 * @param records overrides, tiers and lists of single callers, and the store's recovery
 * @param modeSwitch the switch
 * @param hotKeys counters with a lot of traffic
 * @param bans callers that are banned
 * @param usage what callers have used
 * @param refusals why callers were refused
 * @param audit who changed what
 */
public record AdminOperations(Overview overview, PolicyAdmin policies, RecordAdmin records, SwitchAdmin modeSwitch,
		HotKeyAdmin hotKeys, BanAdmin bans, UsageAdmin usage, RefusalAdmin refusals, AuditAdmin audit) {
}
