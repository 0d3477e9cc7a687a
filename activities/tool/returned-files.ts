/** Files that a tool returned beside its value, on their way into the store. */
import { isWithFiles } from '../../authoring/tool-files.js';
import {
  ATTACHED_BYTES_MAX,
  RESULT_ATTACHMENTS_MAX,
  fileBytes,
  type Attachment,
} from '../../core/state/attachment.js';
import { HoldfastError } from '../../core/state/errors.js';
import { prepareAttachment, type PreparedAttachment } from '../../attachments/attach.js';
import type { StoreCalls } from '../../store/store.js';

export interface ReturnedFiles {
  /** Without its files. */
  readonly value: unknown;
  readonly prepared: readonly PreparedAttachment[];
  /** Why they cannot be used; none of them is kept then. */
  readonly defect?: string;
}

export function filesOf(returned: unknown): ReturnedFiles {
  if (!isWithFiles(returned)) return { value: returned, prepared: [] };
  const { value, files } = returned;
  const refused = (defect: string): ReturnedFiles => ({ value, prepared: [], defect });
  if (!Array.isArray(files) || files.length > RESULT_ATTACHMENTS_MAX)
    return refused(`it has more than ${RESULT_ATTACHMENTS_MAX} files`);
  try {
    const prepared = files.map(prepareAttachment);
    const bytes = prepared.reduce((sum, { attachment }) => sum + fileBytes(attachment), 0);
    return bytes > ATTACHED_BYTES_MAX
      ? refused(`its files have ${bytes} bytes; ${ATTACHED_BYTES_MAX} are allowed`)
      : { value, prepared };
  } catch (error) {
    if (error instanceof HoldfastError) return refused(error.message);
    throw error;
  }
}

/** undefined: there are none. */
export async function keepFiles(
  store: Pick<StoreCalls, 'putBlob'>,
  tenant: string,
  prepared: readonly PreparedAttachment[],
): Promise<readonly Attachment[] | undefined> {
  for (const { text } of prepared) await store.putBlob(tenant, text);
  return prepared.length === 0 ? undefined : prepared.map(({ attachment }) => attachment);
}
