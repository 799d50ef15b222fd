package dev.ratelimit.benchmarks.chaos;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.Network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FaultsTests {

	@Test
	void namedFaultsChangeAndTheOthersStay() {
		Faults faults = Faults.NONE.with(Map.of("latency", "50ms", "loss", "0.5"))
			.with(Map.of("bandwidth", "1MB", "link", "half-open"));

		assertThat(faults).isEqualTo(
				new Faults(Faults.Link.HALF_OPEN, new Network(Duration.ofMillis(50), Duration.ZERO, 0.005, 1 << 20)));
		assertThat(faults).hasToString("link=half-open&latency=50ms&jitter=0ms&loss=0.5&bandwidth=1048576B");
	}

	@Test
	void mistakesNameTheFault() {
		assertThatIllegalArgumentException().isThrownBy(() -> Faults.NONE.with(Map.of("delay", "50ms")))
			.withMessageContaining("delay=50ms")
			.withMessageContaining("latency, jitter, loss, bandwidth, link");
		assertThatIllegalArgumentException().isThrownBy(() -> Faults.NONE.with(Map.of("link", "down")))
			.withMessageContaining("open, cut or half-open");
		assertThatIllegalArgumentException().isThrownBy(() -> Faults.NONE.with(Map.of("loss", "101")))
			.withMessageContaining("loss=101");
	}

}
