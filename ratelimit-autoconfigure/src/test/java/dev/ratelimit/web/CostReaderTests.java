package dev.ratelimit.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class CostReaderTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', nullValues = "none",
			value = { "{\"a\":{\"b\":5}}| 5", "{ \"a\" : { \"b\" : 5 } }| 5", "{\"a\":{\"b\":5},\"a\":{\"b\":6}}| 6",
					"{\"x\":{\"a\":{\"b\":5}}}| none", "{\"a\":[{\"b\":5}]}| none", "[{\"a\":{\"b\":5}}]| none",
					"{\"a\":{\"b\":\"5\"}}| none", "{\"a\":{\"b\":-5}}| none", "{\"a\":{\"b\":true}}| none",
					"{\"a\":{\"b\":null}}| none", "{\"a\":{\"b\":4.2}}| 5", "{\"a\":{\"b\":1e99}}| 90000000",
					"{\"a\":{\"b\":Infinity}}| none", "{\"a\":{\"b\":{\"b\":5}}}| none", "{\"a\":5}| none",
					"{\"a\":{\"b\\n\":5}}| none", "{\"a\":{\"c\":\"\\\",\\\"b\\\":5\",\"b\":7}}| 7",
					"{\"z\":{\"a\":1},\"a\":{\"z\":[1,2,{\"b\":3}],\"b\":9}}| 9", "{\"a\":{\"b\":5| none", "| none",
					"}}}]]],,,:::| none" })
	void numberIsFoundByItsPath(String json, Long cost) {
		assertThat(read("application/json", (json != null) ? json : "", 1_000)).isEqualTo(cost);
	}

	@Test
	void piecesOfAnySizeReadTheSame() {
		String json = "{\"text\": \"\\\\\", \"a\": {\"other\": [[], {}], \"b\": 12345}, \"last\": \"{\\\"a\\\":1}\"}";
		String events = ": hello\r\n\r\nevent: x\r\ndata: {\"a\": {\"b\": 1}}\r\n\r\ndata:{\"a\":{\"b\":12345}}\n\n"
				+ "data: [DONE]\n\n";
		for (int size = 1; size < json.length(); size++) {
			assertThat(read("application/vnd.api+json", json, size)).isEqualTo(12345);
			assertThat(read("text/event-stream;charset=utf-8", events, size)).isEqualTo(12345);
		}
	}

	@Test
	void eventsMayEndTheirLinesWithCarriageReturnsOnly() {
		String events = "event: x\rdata: {\"a\": {\"b\": 1}}\r\rdata:{\"a\":\rdata:{\"b\":12345}}\r\rdata: [DONE]\r\r";
		for (int size = 1; size < events.length(); size++) {
			assertThat(read("text/event-stream", events, size)).isEqualTo(12345);
		}
		assertThat(read("text/event-stream", "data: {}\r\r".repeat(70), 10)).isEqualTo(70);
		assertThat(read("text/event-stream", "data: {}\r\n\r\n".repeat(70), 10)).isEqualTo(70);
	}

	@Test
	void eventThatEndsInTheMiddleOfAnEscapeDoesNotSpoilTheNext() {
		assertThat(read("text/event-stream", "data: {\"x\": \"\\\n\ndata: {\"a\": {\"b\": 7}}\n\n", 100)).isEqualTo(7);
		assertThat(read("text/event-stream", "data: \"\\\r\r" + "data: {\"a\": {\"b\": 7}}\r\r", 100)).isEqualTo(7);
	}

	@Test
	void gzipMayHaveAnyHeader() {
		byte[] header = { 0x1f, (byte) 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3 };
		byte[] extra = { 3, 0, 0, 1, 2 };
		byte[] names = "file name\0comment\0".getBytes(StandardCharsets.ISO_8859_1);
		byte[] plain = gzip("{\"a\":{\"b\":12345}}");
		byte[] checksum = { 1, 2 };
		byte[] all = join(header, extra, names, checksum, Arrays.copyOfRange(plain, 10, plain.length));
		for (int size = 1; size < all.length; size++) {
			assertThat(read("application/json", "gzip", all, size)).isEqualTo(12345);
		}
	}

	@Test
	void gzipMayHaveSeveralMembers() {
		byte[] all = join(gzip("{\"a\":{\"b\":1"), gzip(""), gzip("2345}}"), gzip(" "));
		for (int size = 1; size < all.length; size++) {
			assertThat(read("application/json", "gzip", all, size)).isEqualTo(12345);
		}
	}

	@Test
	void bytesAfterTheLastMemberOfGzipAreIgnored() {
		byte[] all = join(gzip("{\"a\":{\"b\":12345}}"), new byte[20]);
		assertThat(read("application/json", "gzip", all, 7)).isEqualTo(12345);
	}

	@Test
	void gzipHeaderWithoutEndNamesNoCost() {
		byte[] header = { 0x1f, (byte) 0x8b, 8, 8, 0, 0, 0, 0, 0, 3 };
		byte[] name = new byte[300_000];
		Arrays.fill(name, (byte) 'x');
		assertThat(read("application/json", "gzip", join(header, name, gzip("{\"a\":{\"b\":5}}")), 1_000)).isNull();
	}

	@Test
	void manyEmptyMembersOfGzipAreNotReadToTheEnd() {
		byte[] empty = gzip("");
		byte[][] members = new byte[20_000][];
		Arrays.fill(members, empty);
		assertThat(read("application/json", "gzip", join(join(members), gzip("{\"a\":{\"b\":5}}")), 1_000)).isNull();
	}

	@Test
	void deepDocumentKeepsItsPlace() {
		String deep = "{\"x\":" + "[{\"a\":".repeat(500) + "1" + "}]".repeat(500) + ",\"a\":{\"b\":8}}";
		assertThat(read("application/json", deep, 100)).isEqualTo(8);
	}

	@Test
	void streamWithoutANumberCostsItsEvents() {
		String events = "data: {}\n\n".repeat(70) + "id: 1\n\n" + "data: cut";
		assertThat(read("text/event-stream", events, 10)).isEqualTo(71);
		CostReader reader = CostReader.of(List.of("a.b"), "text/event-stream", null);
		reader.read(ByteBuffer.wrap(events.getBytes(StandardCharsets.UTF_8)));
		assertThat(reader.cost(500, true)).isEqualTo(500);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none", value = { "text/plain, none", "none, none", "application/json, br",
			"application/json, deflate", "application/x-ndjson, none" })
	void otherBodiesAreNotRead(String type, String encoding) {
		assertThat(CostReader.of(List.of("a.b"), type, encoding)).isNull();
	}

	@Test
	void bodyThatIsCutOffCostsAtLeastTheEstimate() {
		CostReader events = CostReader.of(List.of("usage.in", "usage.out"), "text/event-stream", null);
		events.read(bytes("data: {\"usage\":{\"in\":25}}\n\n" + "data: {}\n\n".repeat(50)));
		assertThat(events.cost(1_000, false)).isEqualTo(1_000);
		assertThat(events.cost(30, false)).isEqualTo(51);
		CostReader json = CostReader.of(List.of("usage.in", "usage.out"), "application/json", null);
		json.read(bytes("{\"usage\":{\"in\":25,"));
		assertThat(json.cost(1_000, false)).isEqualTo(1_000);
		assertThat(json.cost(10, false)).isEqualTo(25);
	}

	@Test
	void nothingIsReadAfterTheEnd() {
		CostReader reader = CostReader.of(List.of("a.b"), "application/json", "gzip");
		reader.close();
		reader.read(bytes("a body that comes later"));
		assertThat(reader.cost(1, false)).isNull();
	}

	@Test
	void brokenGzipNamesNoCost() {
		CostReader reader = CostReader.of(List.of("a.b"), "application/json", "gzip");
		reader.read(ByteBuffer.wrap("{\"a\":{\"b\":5}} and more".getBytes(StandardCharsets.UTF_8)));
		assertThat(reader.cost(1, true)).isNull();
		reader.close();
	}

	private static ByteBuffer bytes(String text) {
		return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
	}

	private static byte[] gzip(String text) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
			out.write(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	private static byte[] join(byte[]... parts) {
		ByteArrayOutputStream all = new ByteArrayOutputStream();
		for (byte[] part : parts) {
			all.writeBytes(part);
		}
		return all.toByteArray();
	}

	private static Long read(String type, String body, int size) {
		return read(type, null, body.getBytes(StandardCharsets.UTF_8), size);
	}

	private static Long read(String type, String encoding, byte[] bytes, int size) {
		CostReader reader = CostReader.of(List.of("a.b"), type, encoding);
		for (int at = 0; at < bytes.length; at += size) {
			ByteBuffer piece = ByteBuffer.wrap(bytes, at, Math.min(size, bytes.length - at));
			reader.read(piece);
			assertThat(piece.remaining()).isEqualTo(Math.min(size, bytes.length - at));
		}
		Long cost = reader.cost(1, true);
		reader.close();
		return cost;
	}

}
