/** The attachments of a task, before anything is paid for: their bytes are there, and the model reads them. */
import { HoldfastError } from '../../core/state/errors.js';
import type { Attachment } from '../../core/state/attachment.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { Task } from '../../core/state/task.js';
import { isTaken } from '../../core/step/media.js';
import { isAsSaid } from '../../attachments/stored.js';
import type { StoreCalls } from '../../store/store.js';

interface Attached {
  readonly task: Pick<Task, 'attachments'>;
  readonly route: ModelRoute;
}

/** Errors: UnsupportedContent. */
export async function checkAttachments(
  store: Pick<StoreCalls, 'getBlob'>,
  tenant: string,
  { task: { attachments = [] }, route }: Attached,
): Promise<void> {
  const unread = attachments.find((one) => !isTaken(one, route));
  if (unread !== undefined) {
    throw new HoldfastError(
      'UnsupportedContent',
      `The model ${route.name} does not read ${unread.mediaType}.`,
      { hint: unreadHint(route), details: { model: route.name, mediaType: unread.mediaType } },
    );
  }
  checkPages(attachments, route);
  for (const one of attachments) await checkBytes(store, tenant, one);
}

function checkPages(attachments: readonly Attachment[], { name, takes = {} }: ModelRoute): void {
  const { documentPages = Number.POSITIVE_INFINITY } = takes;
  const pages = attachments.reduce((sum, one) => sum + (one.pages ?? 0), 0);
  if (pages <= documentPages) return;
  throw new HoldfastError(
    'UnsupportedContent',
    `The documents have ${pages} pages; the model ${name} takes ${documentPages} in a request.`,
    { hint: 'Attach a part of them, or start with another model.', details: { model: name } },
  );
}

function unreadHint({ takes = {} }: ModelRoute): string {
  const kinds = Object.keys(takes).filter((name) => name !== 'documentPages');
  return kinds.length === 0
    ? 'Start with another model, or say in `takes` of its route what it reads.'
    : `Start with another model; of this one the route says that it reads ${kinds.join(', ')}.`;
}

async function checkBytes(
  store: Pick<StoreCalls, 'getBlob'>,
  tenant: string,
  attachment: Attachment,
): Promise<void> {
  const { $blob, name = $blob } = attachment;
  const data = await store.getBlob(tenant, $blob);
  if (data !== undefined && isAsSaid(data, attachment)) return;
  const why =
    data === undefined ? 'is not in the store of this worker' : 'is not what its reference says';
  throw new HoldfastError('UnsupportedContent', `The attachment ${name} ${why}.`, {
    hint: 'Attach it with a client that has the store of the workers, and start again with what attach gives.',
  });
}
