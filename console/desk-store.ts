/** What the desk needs of the store. */
import type { Store } from '../store/store.js';

export type DeskStore = Pick<
  Store,
  | 'getRun'
  | 'listRuns'
  | 'getAsk'
  | 'openedSeq'
  | 'totalsFor'
  | 'listAsks'
  | 'readEvents'
  | 'appendAudit'
  | 'readAudit'
  | 'auditHead'
  | 'deskKeys'
  | 'listDeskKeys'
  | 'takeRequest'
  | 'answerRequest'
  | 'noteRefusal'
  | 'openNotices'
  | 'dueNotices'
  | 'claimNotice'
  | 'settleNotice'
  | 'removeClosedNotices'
  | 'listNotices'
  | 'countAsks'
  | 'getBlob'
  | 'setFreeze'
  | 'liftFreeze'
  | 'listFreezes'
  | 'freezesInForce'
  | 'listEffects'
>;
