package dev.ratelimit.testing;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Calls that fail a test by an {@link UncheckedIOException}. */
final class Unchecked {

	private Unchecked() {
	}

	static <T> T call(Call<T> call) {
		try {
			return call.run();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	interface Call<T> {

		T run() throws IOException;

	}

}
