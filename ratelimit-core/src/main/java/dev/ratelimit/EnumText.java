package dev.ratelimit;

import java.util.Locale;

/**
 * Constants as YAML, meters, logs and answers spell them: {@code sliding-window-log}.
 */
public interface EnumText {

	/** The name of the constant in Java. */
	String name();

	/**
	 * The name as written in YAML and shown to users.
	 */
	default String text() {
		return of(name());
	}

	static String of(Enum<?> constant) {
		return of(constant.name());
	}

	private static String of(String name) {
		return name.toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
