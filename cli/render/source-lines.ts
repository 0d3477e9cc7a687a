/** What a reply cites, a line for each source: nothing of it leads anywhere. */
import { placeWords, type Source } from '../../pure/sources.js';
import { inert } from './inert.js';

const URL_CHARS_MAX = 2_048;
const LINES_MAX = 20;

export function sourceLines(sources: readonly Source[] = []): readonly string[] {
  const lines = sources.slice(0, LINES_MAX).map((source, place) => {
    const { title = '', passages: [passage = {}] = [] } = source;
    const about = source.kind === 'url' ? source.url : (source.filename ?? '');
    const named = about === '' || about === title ? inert(title) : inert(about, URL_CHARS_MAX);
    const words = [
      named,
      title === '' || about === '' || about === title ? '' : inert(title),
      placeWords(passage),
      passage.text === undefined ? '' : `“${inert(passage.text)}”`,
    ];
    return `[${place + 1}] ${words.filter((word) => word !== '').join(' · ')}`;
  });
  const more = sources.length - lines.length;
  return more > 0 ? [...lines, `… and ${more} more`] : lines;
}
