/** The path of the address; links within the page move between views without loading anew. */
import { useEffect, useState } from 'preact/hooks';
import { placeOf } from './route.js';

export function usePath(): string {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const show = (): void => setPath(location.pathname);
    const follow = (event: MouseEvent): void => {
      const target = pathInside(event);
      if (target === undefined) return;
      event.preventDefault();
      if (target !== location.pathname) history.pushState(keptFor(target), '', target);
      show();
    };
    document.addEventListener('click', follow, { signal });
    window.addEventListener('popstate', show, { signal });
    return () => leaving.abort();
  }, []);
  return path;
}

/** A view that is only told of another address keeps what it keeps. */
function keptFor(target: string): unknown {
  return placeOf(target)?.key === placeOf(location.pathname)?.key ? history.state : null;
}

/** Where a plain click on a link of this page leads; undefined: the browser's own business. */
function pathInside(event: MouseEvent): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest('a[href^="/"]') : null;
  if (link === null || link.hasAttribute('target')) return undefined;
  return new URL(link.getAttribute('href') ?? '/', location.origin).pathname;
}
