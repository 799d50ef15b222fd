package dev.ratelimit.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.ConversionException;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.web.PathCosts;

/**
 * Upgrades a policy that an earlier release accepted and stored, so that it can be
 * written today. The rules for writing became stricter, but an upgrade must not lose a
 * stored limit. A field that no release accepted stays in the document, which is then
 * refused.
 */
final class EarlierPolicy {

	/** An earlier release accepted these fields with any value, and ignored them. */
	static final List<String> ONCE_IGNORED = List.of("cost", "penalty", "idempotency");

	private static final RecordShape POLICY = RecordShape.of(PolicyProperties.class);

	private static final RecordShape ROLLOUT = RecordShape.of(PolicyProperties.Rollout.class);

	private EarlierPolicy() {
	}

	/**
	 * The document without stages, overrides and costs that have no effect, with a unit
	 * on durations, and with deadlines and holds of at least their minimum.
	 * @param changed gets the name of each field that the upgrade changes
	 */
	static Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed) {
		Map<String, Object> upgraded = new LinkedHashMap<>();
		boolean shadow = isShadow(document);
		document.forEach((name, value) -> {
			if (is(POLICY, name, "timeout")) {
				upgraded.put(name, duration(name, value, Policy.MIN_TIMEOUT, changed));
			}
			else if (is(POLICY, name, "overrides") && value instanceof List<?> overrides) {
				upgraded.put(name, overrides(name, overrides, changed));
			}
			else if (is(POLICY, name, "costs") && value instanceof Map<?, ?> costs) {
				upgraded.put(name, costs(name, costs, changed));
			}
			else if (is(POLICY, name, "rollout") && value instanceof Map<?, ?> rollout) {
				upgraded.put(name, rollout(name, rollout, shadow, changed));
			}
			else {
				upgraded.put(name, value);
			}
		});
		return upgraded;
	}

	static boolean has(String field, Map<String, Object> document) {
		return document.keySet().stream().anyMatch((name) -> is(POLICY, name, field));
	}

	/**
	 * The document without a field.
	 * @param changed gets the field's name as the document spells it
	 */
	static Map<String, Object> without(String field, Map<String, Object> document, Consumer<String> changed) {
		Map<String, Object> without = new LinkedHashMap<>(document);
		without.keySet().removeIf((name) -> {
			boolean found = is(POLICY, name, field);
			if (found) {
				changed.accept(name);
			}
			return found;
		});
		return without;
	}

	/** An override for an invalid address or digest never matched a caller. */
	private static List<?> overrides(String at, List<?> overrides, Consumer<String> changed) {
		List<?> matching = overrides.stream().filter((override) -> !neverMatches(override)).toList();
		if (matching.size() < overrides.size()) {
			changed.accept(at);
		}
		return matching;
	}

	private static boolean neverMatches(Object override) {
		Object when = (override instanceof Map<?, ?> map) ? map.get("when") : null;
		return when instanceof Map<?, ?> facts && facts.entrySet().stream().anyMatch((fact) -> {
			String name = String.valueOf(fact.getKey());
			String value = String.valueOf(fact.getValue());
			return (name.equals(Dimension.IP.name()) && IpAddress.parse(value) == null)
					|| (name.equals(Dimension.API_KEY.name()) && ApiKeyDigest.isBroken(Dimension.API_KEY, value));
		});
	}

	/** A cost for a path that is written encoded never applied. */
	private static Map<Object, Object> costs(String at, Map<?, ?> costs, Consumer<String> changed) {
		Map<Object, Object> effective = new LinkedHashMap<>(costs);
		if (effective.keySet().removeIf((pattern) -> PathCosts.isUnreadable(String.valueOf(pattern)))) {
			changed.accept(at);
		}
		return effective;
	}

	private static Map<Object, Object> rollout(String at, Map<?, ?> rollout, boolean shadow, Consumer<String> changed) {
		Map<Object, Object> upgraded = new LinkedHashMap<>();
		rollout.forEach((key, value) -> {
			String name = String.valueOf(key);
			if (shadow && is(ROLLOUT, name, "stages")) {
				changed.accept(at + '.' + name);
			}
			else {
				upgraded.put(key, is(ROLLOUT, name, "hold")
						? duration(at + '.' + name, value, Rollout.MIN_HOLD, changed) : value);
			}
		});
		return upgraded;
	}

	/** Earlier releases read a number as milliseconds, as Boot does. */
	private static Object duration(String at, Object value, Duration least, Consumer<String> changed) {
		String text = String.valueOf(value);
		boolean number = FieldRules.lacksUnit(Duration.class, text);
		String read = number ? text.strip() + "ms" : text;
		boolean tooShort = convert(read, Duration.class) instanceof Duration duration && duration.compareTo(least) < 0;
		if (!number && !tooShort) {
			return value;
		}
		changed.accept(at);
		return tooShort ? least.toMillis() + "ms" : read;
	}

	private static boolean isShadow(Map<String, Object> document) {
		return document.entrySet()
			.stream()
			.anyMatch((field) -> is(POLICY, field.getKey(), "mode") && convert(String.valueOf(field.getValue()),
					PolicyProperties.Mode.class) == PolicyProperties.Mode.SHADOW);
	}

	private static boolean is(RecordShape shape, String name, String field) {
		RecordShape.Field found = shape.field(name);
		return found != null && found.name().equals(field);
	}

	/** The value of a text, {@code null} if the binder will refuse it. */
	private static @Nullable Object convert(String text, Class<?> type) {
		try {
			return RecordShape.convert(text, type);
		}
		catch (ConversionException ex) {
			return null;
		}
	}

}
