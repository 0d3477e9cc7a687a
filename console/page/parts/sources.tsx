/** What a reply cites. Only addresses of the web are links, and each shows where it leads. */
import type { VNode } from 'preact';
import { isWebAddress, placeWords, type Source } from '../../../pure/sources.js';
import { InertBlock, InertLine } from './inert.js';

export function Sources({
  sources = [],
}: {
  readonly sources?: readonly Source[] | undefined;
}): VNode | null {
  if (sources.length === 0) return null;
  return (
    <details class="sources">
      <summary>{`Sources (${sources.length})`}</summary>
      <ol>
        {sources.map((source, place) => (
          <li key={place}>
            <InertLine text={source.title ?? ''} />{' '}
            {source.kind === 'url' && <Address url={source.url} />}
            {source.kind === 'document' && source.filename !== source.title && (
              <InertLine text={source.filename ?? ''} />
            )}
            {source.passages?.map((passage, at) => (
              <p key={at} class="help">
                {placeWords(passage)} <InertBlock text={passage.text ?? ''} />
              </p>
            ))}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Address({ url }: { readonly url: string }): VNode {
  const shown = <InertLine text={url} />;
  return isWebAddress(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {shown}
    </a>
  ) : (
    shown
  );
}
