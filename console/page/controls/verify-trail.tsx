/** Checking that nothing in the trail was changed, removed, inserted, moved or cut off: done in this browser. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, wordsOf } from '../data/api.js';
import { Button } from '../parts/button.js';
import { textIn } from '../parts/form.js';
import { plural } from '../parts/format.js';
import { checkTrail, headIn, ROWS_MAX, type Checked } from './read-trail.js';

const HELP =
  'Somebody who can write the table can make another unbroken trail: compare it with a head that was kept elsewhere. The signature of a head is checked by holdfast audit verify.';

export function VerifyTrail({ tenant }: { readonly tenant: string }): VNode {
  const [kept, setKept] = useState('');
  const [said, setSaid] = useState('');
  const [fault, setFault] = useState('');
  const leaving = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const verify = async (): Promise<void> => {
    setFault('');
    const head = headIn(kept, tenant);
    if (kept.trim() !== '' && head === undefined) {
      return setFault('The kept head is no head of this tenant: {tenant, seq, hash, …} as JSON.');
    }
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    setSaid('Checking …');
    try {
      const progress = (rows: number): void => setSaid(`${plural(rows, 'row')} checked …`);
      const more = head !== undefined && { kept: head };
      const checked = await checkTrail({ tenant, signal, progress, ...more });
      setSaid(checked.fault === undefined ? unbroken(checked, head !== undefined) : '');
      if (checked.fault !== undefined) setFault(`The trail is broken: ${checked.fault.message}.`);
    } catch (error) {
      if (signal.aborted) return;
      setSaid('');
      setFault(wordsOf(error));
    }
  };
  const fetchHead = async (): Promise<void> => {
    setFault('');
    try {
      setKept(JSON.stringify(await get<unknown>('/v1/audit/head'), null, 2));
    } catch (error) {
      setFault(wordsOf(error));
    }
  };
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
      <p class="said" role="status">
        {said}
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
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
