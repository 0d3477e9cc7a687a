/** A draft of a goal's plan: kept until the goal is known to have it, on the newest plan. */
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, isRefusal, pathOf } from '../data/api.js';
import type { Told } from '../data/api-types.js';
import { usePosting } from '../data/use-posting.js';
import { useAct, type Acting } from '../parts/use-act.js';
import {
  draftOf,
  isSet,
  planDefect,
  rebased,
  sentSteps,
  type Plan,
  type PlanDraft,
} from './plan-draft.js';
import { receiptOf } from './receipt.js';

const STALE =
  'The plan has changed since you looked at it. Your changes are kept, now on the newest plan: look at it again, then set it.';
const SET = 'The plan is set.';
const KEPT = 'Your changes stay here until the goal has them.';

interface PlanEditingOptions {
  readonly goalId: string;
  /** The newest that is known. */
  readonly plan: Plan;
  /** Looks at the goal again. */
  readonly changed: () => void;
  readonly closed: () => void;
  /** Told the step that cannot be sent as it is. */
  readonly faulty: (stepId: string) => void;
}

interface PlanEditing extends Pick<Acting, 'said' | 'fault'> {
  /** Undefined: nobody changes the plan. */
  readonly draft: PlanDraft | undefined;
  readonly write: (draft: PlanDraft) => void;
  readonly open: () => void;
  readonly close: () => void;
  readonly submit: (draft: PlanDraft) => Promise<void>;
}

export function usePlanEditing(options: PlanEditingOptions): PlanEditing {
  const { goalId, plan, changed, closed, faulty } = options;
  const [draft, write] = useState<PlanDraft>();
  const [isStale, setStale] = useState(false);
  /** Whether it counts is not known yet. */
  const [sent, setSent] = useState<PlanDraft>();
  const { said, fault, say, complain, act } = useAct(changed);
  const sendPlan = useSending(goalId);
  if (isStale && draft !== undefined && plan.revision > draft.base.revision) {
    write(rebased(draft, plan));
    setStale(false);
  }
  const close = (): void => {
    write(undefined);
    setStale(false);
    setSent(undefined);
    closed();
  };
  useEffect(() => {
    if (draft === undefined || sent === undefined || plan.revision <= sent.base.revision) return;
    say('');
    if (draft === sent && isSet(sent, plan)) {
      close();
      return say(SET);
    }
    setSent(undefined);
    write(rebased(draft, plan));
    complain(STALE);
  }, [plan.revision, sent]);
  const submit = async (now: PlanDraft): Promise<void> => {
    const defect = planDefect(now);
    if (defect !== null) {
      if (defect.id !== undefined) faulty(defect.id);
      return complain(defect.fault);
    }
    let isTaken = false;
    const hasArrived = await act(async () => {
      const told = await sendPlan(now).catch((error: unknown) => {
        if (isRefusal(error) && error.code === 'stale_plan') setStale(true);
        throw error;
      });
      isTaken = told.state === 'taken';
      const receipt = receiptOf(told, SET);
      return isTaken ? receipt : `${receipt} ${KEPT}`;
    });
    if (isTaken) close();
    else if (hasArrived) setSent(now);
  };
  const open = (): void => {
    complain('');
    write(draftOf(plan));
  };
  return { draft, write, open, close, submit, said, fault };
}

/** Errors: ApiProblem, in words of this form where the plan was stale. */
function useSending(goalId: string): (draft: PlanDraft) => Promise<Told> {
  const send = usePosting({ again: true });
  return async (draft) => {
    const body = { steps: sentSteps(draft), revision: draft.base.revision };
    try {
      return await send<Told>(pathOf('goals', goalId, 'plan'), body);
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'stale_plan') throw error;
      throw new ApiProblem({ status: error.status, code: error.code, detail: STALE });
    }
  };
}
