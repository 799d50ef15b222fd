package dev.ratelimit.web.servlet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The writer of a limited response writes what a plain one does, but under no monitor of
 * its superclass.
 */
class TappedWriterTests {

	private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

	@Test
	void contentIsThatOfAPlainWriter() throws Exception {
		ByteArrayOutputStream expected = new ByteArrayOutputStream();
		try (PrintWriter plain = new PrintWriter(new OutputStreamWriter(expected, StandardCharsets.UTF_8));
				PrintWriter tapped = new TappedWriter(this.bytes, "UTF-8")) {
			writeAll(plain);
			writeAll(tapped);
			assertThat(tapped.checkError()).isFalse();
		}
		assertThat(this.bytes.toString(StandardCharsets.UTF_8)).isEqualTo(expected.toString(StandardCharsets.UTF_8));
	}

	@Test
	void characterOfTwoWritesIsWritten() throws Exception {
		PrintWriter tapped = new TappedWriter(this.bytes, "UTF-8");
		tapped.write("\uD83D");
		tapped.write("\uDE00");
		assertThat(this.bytes.toString(StandardCharsets.UTF_8)).isEqualTo("\uD83D\uDE00");
	}

	@Test
	void nothingIsWrittenUnderAMonitorOfTheSuperclass() throws Exception {
		List<String> holders = new ArrayList<>();
		PrintWriter tapped = new TappedWriter(new Watched(holders), "UTF-8");
		writeAll(tapped);
		tapped.flush();
		tapped.close();
		// Before JDK 21, when there are no virtual threads, the encoder has a monitor.
		assertThat(holders).isNotEmpty()
			.allMatch((holder) -> holder.equals("sun.nio.cs.StreamEncoder") || holder.isEmpty());
	}

	@Test
	void failureOfTheStreamIsAnErrorOfTheWriter() throws Exception {
		PrintWriter tapped = new TappedWriter(new OutputStream() {

			@Override
			public void write(int b) throws IOException {
				throw new IOException("The caller is gone");
			}

		}, "UTF-8");
		assertThat(tapped.checkError()).isFalse();
		tapped.println("hello");
		assertThat(tapped.checkError()).isTrue();
	}

	@Test
	void closeIsNoError() throws Exception {
		PrintWriter tapped = new TappedWriter(this.bytes, "UTF-8");
		tapped.print("hello");
		tapped.close();
		assertThat(tapped.checkError()).isFalse();
		assertThat(this.bytes.toString(StandardCharsets.UTF_8)).isEqualTo("hello");
	}

	@Test
	void closedWriterWritesNothing() throws Exception {
		PrintWriter tapped = new TappedWriter(this.bytes, "UTF-8");
		tapped.close();
		tapped.print("late");
		assertThat(tapped.checkError()).isTrue();
		assertThat(this.bytes.size()).isZero();
	}

	private static void writeAll(PrintWriter writer) {
		writer.write('a');
		writer.write("üb€r");
		writer.write("text", 1, 2);
		writer.write(new char[] { 'x', 'y', 'z' });
		writer.write(new char[] { 'x', 'y', 'z' }, 1, 1);
		writer.print(true);
		writer.print('c');
		writer.print(1);
		writer.print(2L);
		writer.print(3.5F);
		writer.print(4.5);
		writer.print(new char[] { 'p' });
		writer.print((String) null);
		writer.print((Object) null);
		writer.println();
		writer.println(true);
		writer.println('c');
		writer.println(1);
		writer.println(2L);
		writer.println(3.5F);
		writer.println(4.5);
		writer.println(new char[] { 'p' });
		writer.println("line");
		writer.println((String) null);
		writer.println((Object) null);
		writer.println(List.of(1));
		writer.append("more").append('!').append("subsequence", 3, 6).append(null);
		writer.printf("%d of %s", 1, "two");
		writer.format(Locale.GERMANY, "%.2f", 1.5);
		writer.printf(Locale.US, "%,d", 1000);
	}

	/** Notes who holds monitors while it is written to. */
	private static final class Watched extends OutputStream {

		private final List<String> holders;

		Watched(List<String> holders) {
			this.holders = holders;
		}

		@Override
		public void write(int b) {
			note();
		}

		@Override
		public void write(byte[] bytes, int offset, int length) {
			note();
		}

		@Override
		public void flush() {
			note();
		}

		@Override
		public void close() {
			note();
		}

		private void note() {
			long thread = Thread.currentThread().getId();
			MonitorInfo[] monitors = ManagementFactory.getThreadMXBean()
				.getThreadInfo(new long[] { thread }, true, false)[0].getLockedMonitors();
			this.holders.add("");
			for (MonitorInfo monitor : monitors) {
				String holder = monitor.getLockedStackFrame().getClassName();
				if (holder.startsWith("java.io.") || holder.startsWith("sun.nio.")
						|| holder.startsWith("dev.ratelimit")) {
					this.holders.add(holder);
				}
			}
		}

	}

}
