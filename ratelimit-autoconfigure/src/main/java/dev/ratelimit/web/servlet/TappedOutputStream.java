package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;

/**
 * A stream that shows its bytes before it writes them.
 */
final class TappedOutputStream extends ServletOutputStream {

	private final ServletOutputStream stream;

	private final Consumer<ByteBuffer> writing;

	private final Runnable flushing;

	private final Runnable failed;

	/**
	 * @param writing gets the bytes before they are written
	 * @param flushing runs before a flush
	 * @param failed runs if the caller is gone
	 */
	TappedOutputStream(ServletOutputStream stream, Consumer<ByteBuffer> writing, Runnable flushing, Runnable failed) {
		this.stream = stream;
		this.writing = writing;
		this.flushing = flushing;
		this.failed = failed;
	}

	private void call(Write write) throws IOException {
		try {
			write.run();
		}
		catch (IOException ex) {
			this.failed.run();
			throw ex;
		}
	}

	@Override
	public void write(int b) throws IOException {
		this.writing.accept(ByteBuffer.wrap(new byte[] { (byte) b }));
		call(() -> this.stream.write(b));
	}

	@Override
	public void write(byte[] bytes, int offset, int length) throws IOException {
		this.writing.accept(ByteBuffer.wrap(bytes, offset, length));
		call(() -> this.stream.write(bytes, offset, length));
	}

	@Override
	public void flush() throws IOException {
		this.flushing.run();
		call(this.stream::flush);
	}

	@Override
	public void close() throws IOException {
		this.flushing.run();
		call(this.stream::close);
	}

	@Override
	public boolean isReady() {
		return this.stream.isReady();
	}

	@Override
	public void setWriteListener(WriteListener listener) {
		this.stream.setWriteListener(listener);
	}

	/** A call of the stream below. */
	@FunctionalInterface
	private interface Write {

		void run() throws IOException;

	}

}
