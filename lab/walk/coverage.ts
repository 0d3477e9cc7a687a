/** Functions that ran, by V8's own count. */
import { Session, type Profiler } from 'node:inspector';

/** What ran since it was asked last, as `<file> <function>`; files by their paths from the root. */
export interface Coverage {
  take(): readonly Entered[];
  stop(): void;
}

export interface Entered {
  readonly file: string;
  readonly name: string;
}

export function startCoverage(root: string): Coverage {
  const session = new Session();
  session.connect();
  post(session, 'Profiler.enable');
  post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const here = `file://${root}/`;
  return {
    take() {
      const { result } = post(
        session,
        'Profiler.takePreciseCoverage',
      ) as Profiler.TakePreciseCoverageReturnType;
      return result
        .filter(({ url }) => url.startsWith(here) || url.startsWith(root))
        .flatMap(({ url, functions }) => {
          const file = url.replace(here, '').replace(`${root}/`, '').replace(/\?.*$/, '');
          return functions
            .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
            .map(({ functionName }) => ({ file, name: functionName }));
        });
    },
    stop: () => session.disconnect(),
  };
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
