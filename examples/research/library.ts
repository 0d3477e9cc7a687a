/** Stands in for a library: notes by id, found by their words. */
export interface Note {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

const NOTES: readonly Note[] = [
  {
    id: 'N-1',
    title: 'Teapots of stoneware',
    text: 'Stoneware keeps tea above 60 degrees for 48 minutes. One in forty breaks in a year.',
  },
  {
    id: 'N-2',
    title: 'Teapots of glass',
    text: 'Glass keeps tea above 60 degrees for 25 minutes. One in nine breaks in a year.',
  },
  {
    id: 'N-3',
    title: 'Teapots of cast iron',
    text: 'Cast iron keeps tea above 60 degrees for 75 minutes. None broke; one in ten rusts.',
  },
];

export function search(words: string): readonly Pick<Note, 'id' | 'title'>[] {
  const wanted = words.toLowerCase().split(/\W+/).filter(Boolean);
  return NOTES.filter(({ title, text }) =>
    wanted.some((word) => `${title} ${text}`.toLowerCase().includes(word)),
  ).map(({ id, title }) => ({ id, title }));
}

export function noteOf(id: string): Note | undefined {
  return NOTES.find((note) => note.id === id);
}
