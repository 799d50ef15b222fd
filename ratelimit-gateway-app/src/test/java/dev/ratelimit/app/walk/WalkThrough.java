package dev.ratelimit.app.walk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A walk-through in docs/operations.md: its steps, each with the commands to type and
 * what they are said to print.
 */
final class WalkThrough {

	private static final Pattern BLOCK = Pattern.compile("(?ms)^```(sh|json|text)\\n(.*?)^```$");

	private final String text;

	private WalkThrough(String text) {
		this.text = text;
	}

	/**
	 * Reads a walk-through.
	 * @param heading of its section
	 */
	static WalkThrough read(String heading) throws IOException {
		String docs = Files.readString(Path.of("..", "docs", "operations.md"));
		int start = docs.indexOf("\n## " + heading + "\n");
		return new WalkThrough(docs.substring(start, docs.indexOf("\n## ", start + 1)));
	}

	/**
	 * The calls of a step.
	 * @param heading of it, empty for what comes before the first
	 */
	List<Call> step(String heading) {
		int start = heading.isEmpty() ? 0 : this.text.indexOf("\n### " + heading + "\n");
		if (start < 0) {
			throw new IllegalArgumentException("no such step: " + heading);
		}
		int end = this.text.indexOf("\n### ", start + 1);
		List<Call> calls = new ArrayList<>();
		Matcher blocks = BLOCK.matcher(this.text.substring(start, (end < 0) ? this.text.length() : end));
		while (blocks.find()) {
			String content = blocks.group(2);
			if (blocks.group(1).equals("sh")) {
				calls.add(new Call(content, null, false));
			}
			else {
				Call last = calls.remove(calls.size() - 1);
				calls.add(new Call(last.commands(), content, blocks.group(1).equals("json")));
			}
		}
		return calls;
	}

	/**
	 * Something to type.
	 *
	 * @param commands what to type
	 * @param output what it prints, {@code null} if that is not said
	 * @param json whether the output is a JSON document
	 */
	record Call(String commands, String output, boolean json) {

		/**
		 * Whether it can be typed again until it prints what is said: it only reads, or
		 * looks at one decision.
		 */
		boolean onlyReads() {
			return this.commands.contains("actuator") || this.commands.contains("%header{x-ratelimit-policy}")
					|| !this.commands.contains("-X")
							&& (this.commands.contains("$ONE") || this.commands.contains("$TWO"));
		}

	}

}
