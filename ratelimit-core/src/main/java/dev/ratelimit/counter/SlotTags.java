package dev.ratelimit.counter;

/**
 * Tags by which Redis Cluster keeps a key on a slot of our choice. Nodes own ranges of
 * slots, so parts whose slots are far from each other are on different nodes; left to
 * chance, two parts would share one of three nodes every third time.
 *
 * <p>
 * A slot is 14 bits of the tag's CRC-16, and that of a text is the CRC of the text with
 * its last characters zeroed, exclusive-or the CRC of those characters. So for every slot
 * there is an ending to be found in a table, whatever comes before it.
 */
final class SlotTags {

	private static final int SLOTS = 16_384;

	/** How many characters at the end of a tag choose its slot. */
	static final int ENDING = 3;

	private static final int POLYNOMIAL = 0x1021;

	private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	private SlotTags() {
	}

	/**
	 * The slot of a tag.
	 */
	static int slot(String tag) {
		return crc(0, tag) % SLOTS;
	}

	/**
	 * The slot of a key: of the tag in braces if there is one.
	 */
	static int ofKey(String key) {
		int start = key.indexOf('{');
		int end = (start >= 0) ? key.indexOf('}', start + 1) : -1;
		return slot((end > start + 1) ? key.substring(start + 1, end) : key);
	}

	/**
	 * A tag for a part of a counter. The slots of the first 2, 4, 8, … parts are evenly
	 * spread, beginning with that of the counter itself.
	 * @param text what the tag begins with
	 * @param whole the tag of the counter
	 * @param part which part, from 1 to 63
	 */
	static String ofPart(String text, String whole, int part) {
		int distance = Integer.reverse(part) >>> (Integer.SIZE - 14);
		int slot = (slot(whole) + distance) % SLOTS;
		int zeroed = crc(crc(0, text), "\0".repeat(ENDING)) % SLOTS;
		return text + Endings.BY_SLOT[zeroed ^ slot];
	}

	private static int crc(int start, String text) {
		int crc = start;
		for (int i = 0; i < text.length(); i++) {
			crc ^= text.charAt(i) << 8;
			for (int bit = 0; bit < 8; bit++) {
				crc = ((crc & 0x8000) != 0) ? (crc << 1) ^ POLYNOMIAL : crc << 1;
			}
			crc &= 0xFFFF;
		}
		return crc;
	}

	/** Made when the first counter is split. */
	private static final class Endings {

		static final String[] BY_SLOT = bySlot();

		private static String[] bySlot() {
			String[] endings = new String[SLOTS];
			int letters = LETTERS.length();
			for (int i = 0, found = 0; found < SLOTS; i++) {
				String ending = "" + LETTERS.charAt(i / letters / letters % letters)
						+ LETTERS.charAt(i / letters % letters) + LETTERS.charAt(i % letters);
				int slot = slot(ending);
				if (endings[slot] == null) {
					endings[slot] = ending;
					found++;
				}
			}
			return endings;
		}

	}

}
