package dev.ratelimit.web.servlet;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UnsupportedEncodingException;
import java.io.Writer;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A writer over a stream that keeps nothing back: nobody flushes the writer of an
 * asynchronous request. Only its own flush is one of the stream, because a container that
 * is flushed early does not know the length of the content.
 *
 * <p>
 * Every method that writes is one of this class. Those of {@link PrintWriter} hold a
 * monitor while they write in a subclass, and before JDK 24 a virtual thread that waits
 * for a slow client under a monitor keeps its carrier thread.
 */
final class TappedWriter extends PrintWriter {

	private final OutputStream stream;

	/** Has a lock of its own, which is no monitor since JDK 21. */
	private final OutputStreamWriter encoder;

	private volatile boolean closed;

	TappedWriter(OutputStream stream, String encoding) throws UnsupportedEncodingException {
		super(Writer.nullWriter());
		this.stream = stream;
		this.encoder = new OutputStreamWriter(new Unflushed(stream), encoding);
	}

	private void call(Call call) {
		try {
			call.run();
		}
		catch (InterruptedIOException ex) {
			Thread.currentThread().interrupt();
		}
		catch (IOException ex) {
			setError();
		}
	}

	@Override
	public void write(int c) {
		call(() -> {
			this.encoder.write(c);
			this.encoder.flush();
		});
	}

	@Override
	public void write(char[] buffer, int offset, int length) {
		call(() -> {
			this.encoder.write(buffer, offset, length);
			this.encoder.flush();
		});
	}

	@Override
	public void write(String text, int offset, int length) {
		call(() -> {
			this.encoder.write(text, offset, length);
			this.encoder.flush();
		});
	}

	@Override
	public void flush() {
		if (this.closed) {
			// checkError() flushes, and a clean end is no error.
			return;
		}
		call(() -> {
			this.encoder.flush();
			this.stream.flush();
		});
	}

	@Override
	public void close() {
		this.closed = true;
		call(this.encoder::close);
	}

	@Override
	public void println() {
		write(System.lineSeparator());
	}

	@Override
	public void println(boolean value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(char value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(int value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(long value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(float value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(double value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(char[] value) {
		println(String.valueOf(value));
	}

	@Override
	public void println(@Nullable String value) {
		write(value + System.lineSeparator());
	}

	@Override
	public void println(@Nullable Object value) {
		println(String.valueOf(value));
	}

	@Override
	public PrintWriter format(String format, @Nullable Object... arguments) {
		write(String.format(format, arguments));
		return this;
	}

	@Override
	public PrintWriter format(@Nullable Locale locale, String format, @Nullable Object... arguments) {
		write(String.format(locale, format, arguments));
		return this;
	}

	/** A call of the stream. */
	@FunctionalInterface
	private interface Call {

		void run() throws IOException;

	}

	private static final class Unflushed extends FilterOutputStream {

		Unflushed(OutputStream stream) {
			super(stream);
		}

		@Override
		public void write(byte[] bytes, int offset, int length) throws IOException {
			this.out.write(bytes, offset, length);
		}

		@Override
		public void flush() {
			// The writer flushes the stream itself.
		}

		@Override
		public void close() throws IOException {
			this.out.close();
		}

	}

}
