/** Drawing again as time goes on. */
import { useEffect, useState } from 'preact/hooks';

export function useTick(everyMs: number): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
