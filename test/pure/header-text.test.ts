/** Names in headers: any letters, and what every release has sent as it always was. */
import { headerText, textOfHeader } from '../../pure/header-text.js';

test.each(['mia', 'Zoë Müller', 'manager, clerk', 'ÿ', "utf-8''a", '100%'])(
  'what fits into a header is sent as it is: %p',
  (name) => {
    expect(headerText(name)).toBe(name);
    expect(textOfHeader(name)).toBe(name);
  },
);

test.each(['Ωλ', '株', 'Zoe\u0308', 'a\u{1F600}b', 'ЖЖ, 株', "UTF-8''%41", 'Ω%41'])(
  'every other text arrives as it was, and the header holds it: %p',
  (name) => {
    const sent = headerText(name);
    expect(new Headers({ name: sent }).get('name')).toBe(sent);
    expect(textOfHeader(sent)).toBe(name);
  },
);

test('what says that it is encoded and is not is no text', () => {
  expect(textOfHeader("UTF-8''%E0%A4%A")).toBeUndefined();
});
