package dev.ratelimit.caller;

import java.util.HashSet;
import java.util.Set;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import static org.assertj.core.api.Assertions.assertThat;

class SealedHashesPropertyTests {

	private final SealedHashes hashes = new SealedHashes(Salt.of("correct horse battery"));

	@Property
	void whoHasTheSaltFindsTheHashAgain(@ForAll int hash) {
		assertThat(new SealedHashes(Salt.of("correct horse battery")).open(this.hashes.seal(hash))).isEqualTo(hash);
	}

	@Example
	void neighboursAreNotNeighboursAnyMore() {
		Set<Integer> distances = new HashSet<>();
		for (int hash = 0; hash < 1_000; hash++) {
			distances.add(this.hashes.seal(hash + 1) - this.hashes.seal(hash));
		}
		assertThat(distances).hasSizeGreaterThan(990);
	}

	@Example
	void anotherSaltOpensNothing() {
		SealedHashes other = new SealedHashes(Salt.of("another"));
		int opened = 0;
		for (int hash = 0; hash < 1_000; hash++) {
			opened += (other.open(this.hashes.seal(hash)) == hash) ? 1 : 0;
		}
		assertThat(opened).isLessThan(2);
	}

}
