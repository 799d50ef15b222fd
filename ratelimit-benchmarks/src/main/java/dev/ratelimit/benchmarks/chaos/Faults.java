package dev.ratelimit.benchmarks.chaos;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.unit.DataSize;

import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.Network;

/**
 * What is wrong with the network, as the command line and the control port name it.
 *
 * @param link whether bytes pass at all
 * @param network how good it is while they do
 */
record Faults(Link link, Network network) {

	static final Faults NONE = new Faults(Link.OPEN, Network.HEALTHY);

	/** The names of all faults. */
	static final String NAMES = "latency, jitter, loss, bandwidth, link";

	/**
	 * Changes some of the faults.
	 * @param changes by name, for example {@code latency=50ms}
	 * @throws IllegalArgumentException naming what is wrong
	 */
	Faults with(Map<String, String> changes) {
		Faults result = this;
		for (Map.Entry<String, String> change : changes.entrySet()) {
			try {
				result = result.with(change.getKey(), change.getValue());
			}
			catch (IllegalArgumentException ex) {
				throw new IllegalArgumentException(change.getKey() + "=" + change.getValue() + ": " + ex.getMessage(),
						ex);
			}
		}
		return result;
	}

	private Faults with(String name, String value) {
		Network old = this.network;
		return switch (name) {
			case "latency" -> with(new Network(duration(value), old.jitter(), old.loss(), old.bytesPerSecond()));
			case "jitter" -> with(new Network(old.latency(), duration(value), old.loss(), old.bytesPerSecond()));
			case "loss" ->
				with(new Network(old.latency(), old.jitter(), Double.parseDouble(value) / 100, old.bytesPerSecond()));
			case "bandwidth" ->
				with(new Network(old.latency(), old.jitter(), old.loss(), DataSize.parse(value).toBytes()));
			case "link" -> new Faults(Link.parse(value), old);
			default -> throw new IllegalArgumentException("unknown fault; there are " + NAMES);
		};
	}

	private Faults with(Network network) {
		return new Faults(this.link, network);
	}

	private static Duration duration(String value) {
		return DurationStyle.detectAndParse(value);
	}

	void apply(ChaosProxy proxy) {
		switch (this.link) {
			case OPEN -> proxy.shape(this.network);
			case CUT -> proxy.refuse();
			case HALF_OPEN -> proxy.swallow();
		}
	}

	/** As in a query, so that it can be sent back. */
	@Override
	public String toString() {
		return String.format(Locale.ROOT, "link=%s&latency=%dms&jitter=%dms&loss=%s&bandwidth=%dB", this.link.text(),
				this.network.latency().toMillis(), this.network.jitter().toMillis(), 100 * this.network.loss(),
				this.network.bytesPerSecond());
	}

	/** Whether bytes pass. */
	enum Link {

		/** They do. */
		OPEN,

		/** Every connection is reset, new ones too. */
		CUT,

		/**
		 * Connections stay open, new ones are accepted, and no byte passes. What was open
		 * stays dead afterwards.
		 */
		HALF_OPEN;

		static Link parse(String text) {
			for (Link link : values()) {
				if (link.text().equals(text)) {
					return link;
				}
			}
			throw new IllegalArgumentException("must be open, cut or half-open");
		}

		String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

}
