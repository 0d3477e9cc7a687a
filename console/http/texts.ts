/** Characters that no id of ours has and no key can hold: control characters and halves of surrogate pairs. */
export function notAllowedText(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text);
}
