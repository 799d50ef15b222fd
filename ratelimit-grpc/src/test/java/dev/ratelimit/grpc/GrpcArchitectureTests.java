package dev.ratelimit.grpc;

import java.util.Set;
import java.util.TreeSet;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the picture in {@code docs/architecture.md} that the tests of other modules
 * do not see: which packages this module uses, and that none of them uses it.
 */
class GrpcArchitectureTests {

	private static final String ROOT = "dev.ratelimit";

	private static final Set<String> MAY_USE = Set.of(ROOT, ROOT + ".admin", ROOT + ".aop", ROOT + ".background",
			ROOT + ".caller", ROOT + ".config", ROOT + ".counter", ROOT + ".json", ROOT + ".policy", ROOT + ".web");

	private final JavaClasses classes = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
		.importPackages(ROOT);

	@Test
	void usesOnlyWhatThePictureAllows() {
		Set<String> wrong = new TreeSet<>();
		for (JavaClass type : this.classes) {
			boolean wiring = type.getName().replaceAll("\\$.*", "").endsWith("Configuration");
			for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
				String used = dependency.getTargetClass().getBaseComponentType().getPackageName();
				boolean ours = used.equals(ROOT) || used.startsWith(ROOT + ".");
				if (isGrpc(type.getPackageName()) ? ours && !wiring && !isGrpc(used) && !MAY_USE.contains(used)
						: isGrpc(used)) {
					wrong.add(type.getName() + " -> " + used);
				}
			}
		}
		assertThat(wrong).isEmpty();
	}

	private static boolean isGrpc(String name) {
		return name.equals(ROOT + ".grpc") || name.startsWith(ROOT + ".grpc.");
	}

}
