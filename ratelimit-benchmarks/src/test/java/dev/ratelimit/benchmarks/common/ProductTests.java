package dev.ratelimit.benchmarks.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class ProductTests {

	@TempDir
	private Path directory;

	@Test
	void hashIsThatOfOurFilesOnly() throws IOException {
		String before = hash();

		Files.writeString(this.directory.resolve("report.md"), "new");
		assertThat(hash()).isEqualTo(before);
		write("dev/ratelimit/Policy.class", "one");
		String one = hash();
		write("dev/ratelimit/Policy.class", "two");
		assertThat(hash()).isNotEqualTo(one).isNotEqualTo(before);
		write("dev/ratelimit/Policy.class", "one");
		assertThat(hash()).isEqualTo(one);
	}

	@Test
	void thisProductHasAHash() {
		assertThat(Product.hash()).matches("[0-9a-f]{12}");
	}

	private void write(String name, String text) throws IOException {
		Path file = this.directory.resolve(name);
		Files.createDirectories(file.getParent());
		Files.writeString(file, text);
	}

	private String hash() {
		return Product.hash(this.directory.toString());
	}

}
