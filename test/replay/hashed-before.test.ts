/** The digest of a text that comes in pieces, cut anywhere. */
import { sha256OfText } from '../../replay/sha256.js';
import { hashedBefore } from '../../replay/stream/bundle-chunks.js';

const WORDS = ',"digest":';

test('a text is digested as it is, wherever a piece of it ends', () => {
  const text = `{"a":"${'😀'.repeat(WORDS.length)}b${'😀'.repeat(WORDS.length)}"`;
  for (let end = 1; end < text.length; end += 1) {
    // The reader gives whole characters.
    if (/[\uDC00-\uDFFF]/.test(text.charAt(end))) continue;
    const hashing = hashedBefore(WORDS);
    hashing.passed(text.slice(0, end));
    hashing.passed(text.slice(end) + WORDS);
    expect(hashing.end()).toBe(sha256OfText(`${text}}`));
    expect(hashing.ofAll()).toBe(sha256OfText(text + WORDS));
  }
});
