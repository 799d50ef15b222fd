package dev.ratelimit.benchmarks.common;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Which product was measured: a hash over everything that was built from its main
 * sources, this module included. It does not change with a commit that changes no main
 * source, such as one of a report.
 */
public final class Product {

	private static final String PACKAGE = "dev/ratelimit";

	private static final String HASH = hash(System.getProperty("java.class.path"));

	private Product() {
	}

	/** The hash, twelve digits of it. */
	public static String hash() {
		return HASH;
	}

	/** Of the files of our packages, by path and content, whatever they are packed in. */
	static String hash(String classPath) {
		try {
			Map<String, byte[]> files = new TreeMap<>();
			for (String entry : classPath.split(File.pathSeparator)) {
				Path path = Path.of(entry);
				if (Files.isDirectory(path)) {
					// Not those of tests.
					if (!path.endsWith("test-classes")) {
						add(path, files);
					}
				}
				else if (entry.endsWith(".jar") && Files.exists(path)) {
					try (FileSystem jar = FileSystems.newFileSystem(path)) {
						add(jar.getPath("/"), files);
					}
				}
			}
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			files.forEach((name, hash) -> {
				digest.update(name.getBytes(StandardCharsets.UTF_8));
				digest.update(hash);
			});
			return HexFormat.of().formatHex(digest.digest(), 0, 6);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void add(Path root, Map<String, byte[]> files) throws IOException, NoSuchAlgorithmException {
		Path ours = root.resolve(PACKAGE);
		if (!Files.exists(ours)) {
			return;
		}
		try (Stream<Path> all = Files.walk(ours)) {
			for (Path file : all.filter(Files::isRegularFile).toList()) {
				try (InputStream in = Files.newInputStream(file)) {
					files.put(root.relativize(file).toString(),
							MessageDigest.getInstance("SHA-256").digest(in.readAllBytes()));
				}
			}
		}
	}

}
