package dev.ratelimit.app.walk;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Types the commands of the docs, and compares what they print.
 */
final class Walk {

	private static final Pattern REVISION = Pattern.compile("\"revision\":(\\d+)");

	private final Terminal terminal;

	private final Supplier<List<ConfigurableApplicationContext>> gateways;

	Walk(Terminal terminal, Supplier<List<ConfigurableApplicationContext>> gateways) {
		this.terminal = terminal;
		this.gateways = gateways;
	}

	void follow(List<WalkThrough.Call> calls) {
		for (WalkThrough.Call call : calls) {
			if (call.onlyReads()) {
				await().atMost(Duration.ofMinutes(1))
					.pollInterval(Duration.ofMillis(100))
					.untilAsserted(() -> check(call, this.terminal.run(call.commands())));
			}
			else {
				String output = this.terminal.run(call.commands());
				check(call, output);
				Within.seconds(1).until(() -> isEverywhere(output));
			}
		}
	}

	private static void check(WalkThrough.Call call, String output) {
		if (call.json()) {
			assertThat(Printed.json(output)).as(call.commands()).isEqualTo(Printed.json(call.output()));
		}
		else if (call.output() != null) {
			assertThat(Printed.text(output)).as(call.commands()).isEqualTo(Printed.text(call.output()));
		}
	}

	/** What was written through one gateway is in force on both. */
	private boolean isEverywhere(String written) {
		Matcher revision = REVISION.matcher(written);
		return !revision.find() || this.gateways.get()
			.stream()
			.map((gateway) -> gateway.getBean(ControlPlane.class).state().revision())
			.allMatch((known) -> known >= Long.parseLong(revision.group(1)));
	}

}
