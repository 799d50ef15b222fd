package dev.ratelimit.app.fault;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import dev.ratelimit.Enforcement;

/**
 * Outages in turn of one Redis with two gateways, whose policies are all enforced in the
 * same way.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Outages {

	private final Enforcement enforcement;

	private final TenantDecisions seen = new TenantDecisions();

	private Gateways gateways;

	Outages(Enforcement enforcement) {
		this.enforcement = enforcement;
	}

	/** Starts Redis, and says where gateways find it. */
	abstract Gateway.Settings startRedis();

	abstract void stopRedis();

	@BeforeAll
	void start() {
		Gateway.Settings settings = startRedis();
		this.gateways = Gateways.start(settings.modes(this.enforcement).listener(this.seen).instances(2),
				Callers.tenants(Outage.TENANTS));
	}

	@AfterAll
	void stop() {
		if (this.gateways != null) {
			this.gateways.close();
		}
		stopRedis();
	}

	boolean leased() {
		return this.enforcement == Enforcement.LEASED;
	}

	/** Begins a case with these gateways. */
	FaultCase fault(String name) {
		this.seen.forget();
		return this.gateways.fault(leased() ? name + "; leased" : name);
	}

	Gateways gateways() {
		return this.gateways;
	}

	/** Who was admitted since the case began. */
	TenantDecisions seen() {
		return this.seen;
	}

}
