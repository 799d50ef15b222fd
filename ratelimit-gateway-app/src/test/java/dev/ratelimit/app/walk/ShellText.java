package dev.ratelimit.app.walk;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Takes commands apart as a shell does: quotes hold together, variables stand for their
 * values, a backslash joins lines.
 */
final class ShellText {

	private final String text;

	private int at;

	private ShellText(String text) {
		this.text = text.replace("\\\n", " ");
	}

	/** Splits at a character that is neither quoted nor within a nested command. */
	static List<String> split(String text, char separator) {
		ShellText source = new ShellText(text);
		List<String> parts = new ArrayList<>();
		int start = 0;
		while (source.at < source.text.length()) {
			char next = source.text.charAt(source.at);
			if (next == separator) {
				parts.add(source.text.substring(start, source.at));
				start = source.at + 1;
			}
			if (next == '\'' || next == '"') {
				source.at = source.text.indexOf(next, source.at + 1);
			}
			else if (source.text.startsWith("$(", source.at)) {
				source.nested();
				continue;
			}
			source.at++;
		}
		parts.add(source.text.substring(start));
		return parts;
	}

	/** The words of one command, as they are passed to it. */
	static List<String> words(String command, UnaryOperator<String> variables, UnaryOperator<String> commands) {
		ShellText source = new ShellText(command);
		List<String> words = new ArrayList<>();
		StringBuilder word = new StringBuilder();
		boolean quoted = false;
		boolean begun = false;
		while (source.at < source.text.length()) {
			char next = source.text.charAt(source.at);
			if (next == '\'' && !quoted) {
				int end = source.text.indexOf('\'', source.at + 1);
				word.append(source.text, source.at + 1, end);
				source.at = end + 1;
				begun = true;
			}
			else if (next == '"') {
				quoted = !quoted;
				begun = true;
				source.at++;
			}
			else if (source.text.startsWith("$(", source.at)) {
				word.append(commands.apply(source.nested()));
				begun = true;
			}
			else if (next == '$') {
				word.append(Objects.requireNonNull(variables.apply(source.name()), command));
				begun = true;
			}
			else if (Character.isWhitespace(next) && !quoted) {
				if (begun) {
					words.add(word.toString());
				}
				word.setLength(0);
				begun = false;
				source.at++;
			}
			else {
				word.append(next);
				begun = true;
				source.at++;
			}
		}
		if (begun) {
			words.add(word.toString());
		}
		return words;
	}

	/** The command within {@code $(…)}, which none here nests further. */
	private String nested() {
		int end = this.text.indexOf(')', this.at);
		String command = this.text.substring(this.at + 2, end);
		this.at = end + 1;
		return command;
	}

	private String name() {
		int start = ++this.at;
		while (this.at < this.text.length() && Character.isUpperCase(this.text.charAt(this.at))) {
			this.at++;
		}
		return this.text.substring(start, this.at);
	}

}
