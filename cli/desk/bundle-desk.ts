/** `holdfast inspect FILE --desk`: the page of one recorded run, until Ctrl-C. */
import { basename } from 'node:path';
import type { OpenRecord } from '../../replay/open-record.js';
import { onInterrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';
import { packageVersion } from '../version.js';

interface Showing {
  readonly subject: string;
  readonly options: { readonly at?: string; readonly port?: number };
  readonly output: Output;
}

/** Errors: Usage for a run of a server, PortTaken. */
export async function showDesk(record: OpenRecord, showing: Showing): Promise<void> {
  const { subject, options, output } = showing;
  if (record.source !== 'file') {
    throw usage(
      '--desk shows a bundle.',
      'The steps of a run are on its page at the approval desk; `holdfast export` makes a bundle of it.',
    );
  }
  const interrupt = onInterrupt();
  try {
    const { startBundleDesk } = await import('../../console/index.js');
    const desk = await startBundleDesk({
      record,
      file: basename(subject),
      version: packageVersion(),
      ...(options.port !== undefined && { port: options.port }),
      say: (line) => output.remark(line),
    });
    const { url, token = '' } = desk;
    output.data({ console: url, token });
    output.line(`Recorded run     ${url}${pathTo(record, options.at)}#token=${token}`);
    output.line('Read-only. Ctrl-C ends it.');
    await beReady(record);
    await new Promise<void>((ended) => {
      if (interrupt.signal.aborted) ended();
      interrupt.signal.addEventListener('abort', () => ended());
    });
    await desk.stop();
  } finally {
    interrupt.release();
  }
}

/** While somebody opens the page: code is loaded, and the messages of its requests are made once. */
async function beReady(record: OpenRecord): Promise<void> {
  const { toldMoment } = await import('../../replay/told-moment.js');
  // What cannot be told is told where it is looked at.
  await toldMoment(record, record.fold.steps.length).catch(() => undefined);
}

function pathTo({ fold }: OpenRecord, at: string | undefined): string {
  const step = at === 'last' ? String(fold.steps.length) : at;
  if (step === undefined || !/^\d{1,9}$/.test(step)) return '/';
  return `/runs/${encodeURIComponent(fold.run.runId)}/steps/${step}`;
}
