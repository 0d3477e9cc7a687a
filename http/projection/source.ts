/** The sources of a reply as parts of a UI message. */
import type { Source } from '../../pure/sources.js';
import type { UiSource } from './chunk.js';

/** Of a message of a transcript and of its stream the same. */
export function sourceParts(
  messageId: string,
  sources: readonly Source[] = [],
): readonly UiSource[] {
  return sources.map((source, place): UiSource => {
    const sourceId = `${messageId}.source.${place}`;
    if (source.kind === 'url') {
      const { url, title } = source;
      return { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) };
    }
    const { mediaType, title, filename } = source;
    const named = filename !== undefined && { filename };
    return { type: 'source-document', sourceId, mediaType, title, ...named };
  });
}
