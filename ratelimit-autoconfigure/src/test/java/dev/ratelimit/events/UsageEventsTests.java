package dev.ratelimit.events;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.caller.Pseudonyms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class UsageEventsTests {

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	private final HandDrivenOutlet outlet = new HandDrivenOutlet();

	private final Pseudonyms pseudonyms = (dimension, value) -> {
		if (value.equals("cursed")) {
			throw new IllegalStateException("no pseudonym");
		}
		return "p-" + value;
	};

	private final UsageEvents events = new UsageEvents(this.outlet,
			new EventFormat(new CallerNames(this.pseudonyms, 64), "local", "one"),
			new EventOptions(true, "usage", 10, Duration.ofMillis(300)));

	@AfterEach
	void close() {
		this.events.close();
	}

	@Test
	void decisionCountsAsDeliveredWhenItIsConfirmed() {
		decide(ACME, 1);
		await().until(() -> this.outlet.taken.size() == 1);
		assertThat(this.events.delivered()).isZero();
		this.outlet.taken.remove().delivered();
		assertThat(this.events.delivered()).isEqualTo(1);
		assertThat(this.events.dropped()).isZero();
	}

	@Test
	void unconfirmedEventsTakeRoom() {
		decide(ACME, 10);
		await().until(() -> this.outlet.taken.size() == 10);
		decide(ACME, 5);
		assertThat(this.events.dropped()).isEqualTo(5);
		this.outlet.taken.remove().delivered();
		decide(ACME, 2);
		assertThat(this.events.dropped()).isEqualTo(6);
	}

	@Test
	void eventThatIsNotTakenIsHandedOverAgain() {
		this.outlet.open = false;
		decide(ACME, 3);
		await().until(() -> this.outlet.refused > 1);
		this.outlet.open = true;
		await().until(() -> this.outlet.taken.size() == 3);
		assertThat(this.events.dropped()).isZero();
		assertThat(this.outlet.messages.get(0)).contains("\"id\":\"1\"");
	}

	@Test
	void eventThatTheBrokerDoesNotWantIsDropped() {
		decide(ACME, 1);
		await().until(() -> this.outlet.taken.size() == 1);
		this.outlet.taken.remove().lost(new IllegalStateException("too large"));
		assertThat(this.events.dropped()).isEqualTo(1);
	}

	@Test
	void eventThatCannotBeWrittenIsDroppedAndTheNextIsSent() {
		decide(Request.of("orders").with(Dimension.USER, "cursed"), 1);
		decide(ACME, 1);
		await().until(() -> this.outlet.taken.size() == 1);
		assertThat(this.events.dropped()).isEqualTo(1);
	}

	@Test
	void whatWaitsAtTheEndIsHandedOver() {
		decide(ACME, 10);
		this.events.close();
		assertThat(this.outlet.messages).hasSize(10);
		assertThat(this.events.delivered()).isEqualTo(10);
	}

	@Test
	void whatCannotBeHandedOverByTheEndIsDropped() {
		this.outlet.open = false;
		decide(ACME, 12);
		this.events.close();
		assertThat(this.events.dropped()).isEqualTo(12);
		assertThat(this.events.delivered()).isZero();
	}

	@Test
	void whatIsDecidedAfterTheEndIsDropped() {
		this.events.close();
		decide(ACME, 3);
		assertThat(this.events.dropped()).isEqualTo(3);
	}

	private void decide(Request request, int times) {
		for (int i = 0; i < times; i++) {
			this.events.decided(request,
					Decision.without(request, 0, true, Decision.Outcome.BYPASSED, Decision.Reason.LIST), 0);
		}
	}

	/**
	 * Takes events when told to, and confirms them when told to or at the end.
	 */
	private static final class HandDrivenOutlet implements EventOutlet {

		private final Queue<Fate> taken = new ConcurrentLinkedQueue<>();

		private final List<String> messages = new CopyOnWriteArrayList<>();

		private volatile boolean open = true;

		private volatile int refused;

		@Override
		public boolean take(EventMessage message, Fate fate) {
			if (!this.open) {
				this.refused = this.refused + 1;
				fate.delayed(new IllegalStateException("closed"));
				return false;
			}
			this.messages.add(new String(message.value(), StandardCharsets.UTF_8));
			this.taken.add(fate);
			return true;
		}

		@Override
		public void close(Duration atMost) {
			this.taken.forEach(Fate::delivered);
			this.taken.clear();
		}

	}

}
