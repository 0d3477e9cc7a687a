/** Functions that ran, by V8's own count. */
import { Session, type Profiler } from 'node:inspector';

export interface Coverage {
  /** Files below the root with a function that was entered since the last call, by their paths from the root. */
  take(): ReadonlySet<string>;
  stop(): void;
}

/** What the compiler makes of an export is no function of ours: it gives the export, and nothing else. */
const OF_AN_EXPORT = /^\(\) ?=> ?[\w$]+$/;
const OF_THE_COMPILER = 'get';

export function startCoverage(root: string): Coverage {
  const session = new Session();
  session.connect();
  post(session, 'Debugger.enable');
  post(session, 'Profiler.enable');
  post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    take() {
      const { result } = post(session, 'Profiler.takePreciseCoverage') as {
        readonly result: readonly Profiler.ScriptCoverage[];
      };
      const files = result.flatMap((script) => {
        const [path] = pathIn(root, script.url);
        return path !== undefined && wasEntered(session, script) ? [path] : [];
      });
      return new Set(files);
    },
    stop: () => session.disconnect(),
  };
}

/** A function of the script. */
function wasEntered(session: Session, { scriptId, functions }: Profiler.ScriptCoverage): boolean {
  const entered = functions.filter(
    ({ functionName, ranges }) => functionName !== OF_THE_COMPILER && (ranges[0]?.count ?? 0) > 0,
  );
  if (entered.length === 0) return false;
  const { scriptSource } = post(session, 'Debugger.getScriptSource', { scriptId }) as {
    readonly scriptSource: string;
  };
  return entered.some(({ ranges: [range] }) => {
    const text = range && scriptSource.slice(range.startOffset, range.endOffset);
    return text !== undefined && !OF_AN_EXPORT.test(text);
  });
}

function pathIn(root: string, url: string): readonly string[] {
  const path = url.replace(/^file:\/\//, '').replace(/\?.*$/, '');
  return path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [];
}

/** The inspector of one's own process answers before the call returns. */
function post(session: Session, method: string, params: object = {}): unknown {
  let answer: unknown;
  session.post(method, params, (error, result) => {
    if (error !== null) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}
