/** The title of the window, without characters that nobody sees. */
import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Holdfast`.replace(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, '');
  }, [title]);
}
