/** Text inside of XML documents. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/**
 * Control characters become references, as S3 answers them. XML 1.0 allows most of them in no form, so
 * clients that may meet such keys ask for `encoding-type=url`.
 */
export function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  return text.replace(/[&<>"\x00-\x1f\x7f]/g, (found) => ESCAPES[found] ?? `&#${found.charCodeAt(0)};`);
}
