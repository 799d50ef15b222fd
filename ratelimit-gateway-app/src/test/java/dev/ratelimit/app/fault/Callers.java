package dev.ratelimit.app.fault;

import io.netty.handler.codec.http.HttpHeaders;

/** Says who makes a call. */
@FunctionalInterface
interface Callers {

	/**
	 * Adds what the gateway knows its caller by.
	 * @param number the number of the call
	 * @param headers the headers of the call
	 */
	void identify(long number, HttpHeaders headers);

	/** So many tenants in turn, each with an API key that the gateway verifies. */
	static Callers tenants(int tenants) {
		return (number, headers) -> headers.set("X-API-Key", "tenant-" + number % tenants);
	}

	/** So many addresses in turn, of up to 16 million. */
	static Callers addresses(int addresses) {
		return (number, headers) -> {
			long address = number % addresses;
			headers.set("X-Forwarded-For",
					"10." + (address >> 16 & 255) + "." + (address >> 8 & 255) + "." + (address & 255));
		};
	}

}
