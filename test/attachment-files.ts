/** Files beside those of cases: PDFs that pack their pages away. */
import { deflateSync } from 'node:zlib';

export { jpeg, pdf, png, wav } from '../evaluation/case-files.js';

/** Its pages lie in an object stream, and nothing else tells their number. */
export function packedPdf(pages: number): Buffer {
  const inside = Array.from({ length: pages }, () => '<< /Type /Page >>').join(' ');
  return pdfWithStream(deflateSync(Buffer.from(inside, 'latin1')));
}

export function pdfWithStream(packed: Buffer): Buffer {
  const head = `%PDF-1.5\n1 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`;
  return Buffer.concat([
    Buffer.from(head, 'latin1'),
    packed,
    Buffer.from('\nendstream\nendobj\n%%EOF\n', 'latin1'),
  ]);
}
