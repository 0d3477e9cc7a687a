/** The files of a case, made by code: headers that say what they are, and nothing to see. */
import type { Attachment } from '../core/state/attachment.js';
import {
  prepareAttachment,
  type AttachmentSource,
  type PreparedAttachment,
} from '../attachments/attach.js';
import type { Store } from '../store/store.js';
import type { Fixture } from './fixture.js';
import type { WrittenFile } from './format/files.js';

export function sourceOf({ name, ...file }: WrittenFile): AttachmentSource {
  return { data: bytesOf(file), ...(name !== undefined && { name }) };
}

export function attachmentsOf(files: readonly WrittenFile[]): readonly Attachment[] {
  return files.map((file) => prepared(file).attachment);
}

function prepared(file: WrittenFile): PreparedAttachment {
  return prepareAttachment(sourceOf(file));
}

/** Puts those that people attach into the store, before the run begins. */
export async function seedFiles(
  store: Pick<Store, 'putBlob'>,
  tenant: string,
  { task, during }: Fixture,
): Promise<void> {
  const said = during.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === 'userMessage' ? (action.files ?? []) : [])),
  );
  for (const file of [...(task.attachments ?? []), ...said])
    await store.putBlob(tenant, prepared(file).text);
}

function bytesOf({ kind, width = 2, height = 2, pages = 1, seconds = 1 }: WrittenFile): Buffer {
  switch (kind) {
    case 'png':
      return png(width, height);
    case 'jpeg':
      return jpeg(width, height);
    case 'pdf':
      return pdf(pages);
    case 'wav':
      return wav(seconds);
  }
}

export function png(width = 2, height = 2): Buffer {
  const header = Buffer.alloc(33);
  header.write('\x89PNG\r\n\x1a\n', 0, 'latin1');
  header.writeUInt32BE(13, 8);
  header.write('IHDR', 12, 'latin1');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
}

export function jpeg(width = 2, height = 2): Buffer {
  const frame = Buffer.alloc(19);
  frame.write('\xff\xc0\x00\x11\x08', 0, 'latin1');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const comment = Buffer.from('\xff\xfe\x00\x05abc', 'latin1');
  return Buffer.concat([Buffer.from('\xff\xd8', 'latin1'), comment, frame]);
}

export function pdf(pages = 1): Buffer {
  const all = Array.from(
    { length: pages },
    (_, at) => `${at + 3} 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`,
  ).join('');
  const catalog = '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n';
  const tree = `2 0 obj\n<< /Type /Pages /Count ${pages} >>\nendobj\n`;
  return Buffer.from(`%PDF-1.4\n${catalog}${tree}${all}%%EOF\n`, 'latin1');
}

const WAV_BYTES_A_SECOND = 16_000;

export function wav(seconds = 1): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt32LE(WAV_BYTES_A_SECOND, 28);
  header.write('data', 36, 'latin1');
  return Buffer.concat([header, Buffer.alloc(WAV_BYTES_A_SECOND * seconds - header.length)]);
}
