package dev.ratelimit.grpc;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A certificate that is its own authority, made anew for each use so that no key lies in
 * the repository and none ever runs out.
 *
 * @param certificate in PEM
 * @param privateKey in PEM, not encrypted
 */
record TestCertificate(String certificate, String privateKey) {

	private static final String PASSWORD = "password";

	/**
	 * Makes one with the JDK's own keytool: the JDK has no other public way.
	 * @param folder where it may leave its key store
	 * @param commonName the common name
	 * @param alternativeName the other name, as keytool expects it: {@code dns:a.example}
	 */
	static TestCertificate create(Path folder, String commonName, String alternativeName) throws Exception {
		Path file = Files.createTempDirectory(folder, "key").resolve("certificate.p12");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "test", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "2", "-dname",
				"CN=" + commonName, "-ext", "san=" + alternativeName, "-storetype", "PKCS12", "-keystore",
				file.toString(), "-storepass", PASSWORD)
			.redirectErrorStream(true)
			.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		if (process.onExit().join().exitValue() != 0) {
			throw new IllegalStateException(output);
		}
		KeyStore store = KeyStore.getInstance("PKCS12");
		try (InputStream input = Files.newInputStream(file)) {
			store.load(input, PASSWORD.toCharArray());
		}
		return new TestCertificate(pem("CERTIFICATE", store.getCertificate("test").getEncoded()),
				pem("PRIVATE KEY", store.getKey("test", PASSWORD.toCharArray()).getEncoded()));
	}

	static InputStream stream(String pem) {
		return new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8));
	}

	private static String pem(String type, byte[] content) {
		return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + type
				+ "-----\n";
	}

}
