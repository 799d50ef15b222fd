package dev.ratelimit;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * Runs code as in an application that lacks some of the jars which the tests have.
 */
public final class ClassPathWithout {

	private final Pattern absent;

	private ClassPathWithout(Pattern absent) {
		this.absent = absent;
	}

	/**
	 * Leaves jars out.
	 * @param names how the names of their files begin
	 */
	public static ClassPathWithout jars(String... names) {
		return new ClassPathWithout(Pattern.compile(".*/(" + String.join("|", names) + ")[^/]*\\.jar"));
	}

	/**
	 * Creates a public nested class of a test in a class loader of its own and calls it.
	 */
	public Object call(Class<? extends Callable<?>> type) throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader loader = loader()) {
			thread.setContextClassLoader(loader);
			return ((Callable<?>) loader.loadClass(type.getName()).getDeclaredConstructor().newInstance()).call();
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	public boolean has(String type) throws Exception {
		try (URLClassLoader loader = loader()) {
			return loader.getResource(type.replace('.', '/') + ".class") != null;
		}
	}

	private URLClassLoader loader() {
		URL[] urls = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !this.absent.matcher(entry).matches())
			.map(ClassPathWithout::url)
			.toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	private static URL url(String entry) {
		try {
			return Path.of(entry).toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(entry, ex);
		}
	}

}
