package dev.ratelimit.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A certificate for 127.0.0.1 that is its own authority, made anew for each use so that
 * no key lies in the repository and none ever runs out.
 *
 * @param certificate in PEM
 * @param privateKey in PEM, not encrypted
 */
record SelfSignedCertificate(String certificate, String privateKey) {

	private static final String PASSWORD = "password";

	/**
	 * Makes one with the JDK's own keytool: the JDK has no other public way.
	 * @param folder where it may leave its key store
	 */
	static SelfSignedCertificate create(Path folder) throws IOException, GeneralSecurityException {
		Path file = folder.resolve("certificate.p12");
		keytool("-genkeypair", "-alias", "redis", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "2",
				"-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-storetype", "PKCS12", "-keystore",
				file.toString(), "-storepass", PASSWORD);
		KeyStore store = KeyStore.getInstance("PKCS12");
		try (InputStream input = Files.newInputStream(file)) {
			store.load(input, PASSWORD.toCharArray());
		}
		return new SelfSignedCertificate(pem("CERTIFICATE", store.getCertificate("redis").getEncoded()),
				pem("PRIVATE KEY", store.getKey("redis", PASSWORD.toCharArray()).getEncoded()));
	}

	private static void keytool(String... arguments) throws IOException {
		String[] command = new String[arguments.length + 1];
		command[0] = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
		System.arraycopy(arguments, 0, command, 1, arguments.length);
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		if (process.onExit().join().exitValue() != 0) {
			throw new IllegalStateException(output);
		}
	}

	private static String pem(String type, byte[] content) {
		return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + type
				+ "-----\n";
	}

}
