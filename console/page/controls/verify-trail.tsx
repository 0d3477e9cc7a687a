/** Checking that nothing in the trail was changed, removed, inserted, moved or cut off: done in this browser. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../data/api.js';
import { Button } from '../parts/button.js';
import { textIn } from '../parts/form.js';
import { plural } from '../parts/format.js';
import { Outcome, useAct } from '../parts/use-act.js';
import { checkTrail, headIn, ROWS_MAX, type Checked } from './read-trail.js';

const HELP =
  'Somebody who can write the table can make another unbroken trail: compare it with a head that was kept elsewhere. The signature of a head is checked by holdfast audit verify.';

export function VerifyTrail({ tenant }: { readonly tenant: string }): VNode {
  const [kept, setKept] = useState('');
  const { said, fault, say, complain, act } = useAct();
  const leaving = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const verify = async (): Promise<void> => {
    const head = headIn(kept, tenant);
    if (kept.trim() !== '' && head === undefined) {
      return complain('The kept head is no head of this tenant: {tenant, seq, hash, …} as JSON.');
    }
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    await act(async () => {
      say('Checking …');
      const progress = (rows: number): void => say(`${plural(rows, 'row')} checked …`);
      const more = head !== undefined && { kept: head };
      const checked = await checkTrail({ tenant, signal, progress, ...more });
      if (checked.fault === undefined) return unbroken(checked, head !== undefined);
      return complain(`The trail is broken: ${checked.fault.message}.`);
    });
  };
  const fetchHead = (): Promise<boolean> =>
    act(async () => setKept(JSON.stringify(await get<unknown>('/v1/audit/head'), null, 2)));
  return (
    <div class="panel verify">
      <div class="choices">
        <Button label="Verify the trail" kind="primary" press={verify} />
        <Button label="Get the newest head" press={fetchHead} />
      </div>
      <label for="kept-head">A head that was kept (optional)</label>
      <textarea
        id="kept-head"
        class="code"
        rows={3}
        spellcheck={false}
        value={kept}
        onInput={(event) => setKept(textIn(event))}
      />
      <p class="help">{HELP}</p>
      <Outcome said={said} fault={fault} />
    </div>
  );
}

function unbroken({ rows, head, isCut }: Checked, isCompared: boolean): string {
  if (isCut === true) {
    return `The first ${plural(ROWS_MAX, 'row')} are unbroken. Check the others with holdfast audit verify.`;
  }
  const passes = isCompared ? ', and the trail passes through the kept head' : '';
  return `Unbroken: ${plural(rows, 'row')}, the last with the hash ${head.hash.slice(0, 16)}…${passes}.`;
}
