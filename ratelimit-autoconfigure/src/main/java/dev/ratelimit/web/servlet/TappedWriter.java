package dev.ratelimit.web.servlet;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UnsupportedEncodingException;

/**
 * A writer over a stream that keeps nothing back: nobody flushes the writer of an
 * asynchronous request. Only its own flush is one of the stream, because a container that
 * is flushed early does not know the length of the content.
 */
final class TappedWriter extends PrintWriter {

	private final OutputStream stream;

	TappedWriter(OutputStream stream, String encoding) throws UnsupportedEncodingException {
		super(new OutputStreamWriter(new Unflushed(stream), encoding));
		this.stream = stream;
	}

	@Override
	public void write(int c) {
		super.write(c);
		super.flush();
	}

	@Override
	public void write(char[] buffer, int offset, int length) {
		super.write(buffer, offset, length);
		super.flush();
	}

	@Override
	public void write(String text, int offset, int length) {
		super.write(text, offset, length);
		super.flush();
	}

	@Override
	public void println() {
		super.println();
		super.flush();
	}

	@Override
	public void flush() {
		super.flush();
		try {
			this.stream.flush();
		}
		catch (IOException ex) {
			setError();
		}
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
