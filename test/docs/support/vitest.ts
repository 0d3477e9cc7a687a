/** The functions of vitest that the documents use, by those of jest. */
declare const runner: { readonly expect: jest.Expect; readonly test: jest.It };
export const { expect, test } = runner;
