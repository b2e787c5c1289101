/**
 * A path as it is, or in JSON's quotes when it holds a control character, a quote or a backslash at its start: a file's
 * name must not be able to move the cursor, hide itself or look like two lines.
 */
export function quotePath(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (!/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|^["\\]/.test(path)) return path;
  // JSON.stringify leaves these as they are.
  return JSON.stringify(path).replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A text that may repeat somebody's file names or commit messages, with control characters shown instead of sent. Lines stay lines. */
export function showControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
