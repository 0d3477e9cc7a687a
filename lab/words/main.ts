/** `npm run words`: sentences for users that name no subject; with `--all` every text that users may meet. */
import { join } from 'node:path';
import { documentsIn, sourcesIn } from './places.js';
import { textsOfDocument, textsOfSource, vagueSentences } from './texts.js';

const ROOT = join(__dirname, '..', '..');
const all = process.argv.includes('--all');
const texts = [
  ...sourcesIn(ROOT).flatMap((file) => textsOfSource(ROOT, file)),
  ...documentsIn(ROOT).flatMap((file) => textsOfDocument(ROOT, file)),
];
for (const one of texts) {
  if (all && /^[A-Z].* .*[a-z]/.test(one.text)) console.log(`${one.file}: ${one.text}`);
  else for (const sentence of vagueSentences(one)) console.log(`${one.file}: ${sentence}`);
}
