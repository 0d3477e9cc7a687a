/** When the cycles of a goal begin from now on. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { GoalDetail } from '../data/api-types.js';
import { Form, textIn } from '../parts/form.js';
import {
  PACE_KINDS,
  PACE_UNITS,
  paceDraftOf,
  readPace,
  type PaceDraft,
  type PaceKind,
  type PaceUnit,
} from './pace-draft.js';
import { paceText } from './pace-words.js';
import { isTold, paceOf } from './use-goal.js';
import type { Say } from './say.js';

interface PaceFormProps {
  readonly goal: GoalDetail;
  readonly say: Say;
  readonly complain: (text: string) => void;
}

export function PaceForm({ goal, say, complain }: PaceFormProps): VNode {
  const { goalId } = goal;
  const now = paceOf(goal);
  const [draft, setDraft] = useState(() => paceDraftOf(now, ownZone()));
  const place = useRef<HTMLDivElement>(null);
  const write = (part: Partial<PaceDraft>): void => setDraft({ ...draft, ...part });
  const submit = async (): Promise<void> => {
    const read = readPace(draft);
    if (!read.ok) {
      place.current?.querySelector<HTMLElement>(`[name="${read.field}"]`)?.focus();
      return complain(read.fault);
    }
    await say('pace', { pace: read.pace }, `From now on: ${paceText(read.pace)}.`);
  };
  const id = `pace-${goalId}`;
  return (
    <Form class="inline-form pace-form" label="Pace" submit={() => void submit()}>
      <label for={id}>Cycles begin</label>
      <select
        id={id}
        value={draft.kind}
        onChange={(event) => write({ kind: textIn(event) as PaceKind })}
      >
        {PACE_KINDS.map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </select>
      <div class="pace-fields" ref={place}>
        {draft.kind === 'every' && <EveryFields draft={draft} write={write} />}
        {draft.kind === 'cron' && <CronFields draft={draft} write={write} />}
      </div>
      {now !== undefined && (
        <span class="help">{`${isTold(goal) ? 'now' : 'at the start'} ${paceText(now)}`}</span>
      )}
      <button type="submit" class="button">
        Set the pace
      </button>
    </Form>
  );
}

interface FieldsProps {
  readonly draft: PaceDraft;
  readonly write: (part: Partial<PaceDraft>) => void;
}

function EveryFields({ draft: { every, unit }, write }: FieldsProps): VNode {
  return (
    <>
      <input
        class="number"
        type="text"
        inputMode="decimal"
        name="every"
        aria-label="How many"
        autocomplete="off"
        maxLength={12}
        value={every}
        onInput={(event) => write({ every: textIn(event) })}
      />
      <select
        aria-label="Unit of time"
        value={unit}
        onChange={(event) => write({ unit: textIn(event) as PaceUnit })}
      >
        {PACE_UNITS.map(([name]) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}

function CronFields({ draft: { cron, timezone }, write }: FieldsProps): VNode {
  return (
    <>
      <input
        type="text"
        name="cron"
        aria-label="Cron line: minute, hour, day of month, month, day of week"
        placeholder="0 9 * * 1-5"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={cron}
        onInput={(event) => write({ cron: textIn(event) })}
      />
      <input
        type="text"
        name="timezone"
        aria-label="Time zone"
        autocomplete="off"
        spellcheck={false}
        maxLength={64}
        value={timezone}
        onInput={(event) => write({ timezone: textIn(event) })}
      />
    </>
  );
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
