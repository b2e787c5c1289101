/** Compares two folders in tests, byte by byte, with kinds, modes, link targets and mtimes in ns. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One line for each item below the folder; equal trees have equal lines. */
export function describeTree(root: string, options: { readonly times?: boolean } = {}): string[] {
  const lines: string[] = [];
  const visit = (folder: string, prefix: string) => {
    for (const name of readdirSync(folder).sort()) {
      if (prefix === '' && name === '.dray') continue;
      const path = `${folder}/${name}`;
      const stat = lstatSync(path, { bigint: true });
      if (stat.isDirectory()) {
        lines.push(`${prefix}${name}/`);
        visit(path, `${prefix}${name}/`);
      } else if (stat.isSymbolicLink()) lines.push(`${prefix}${name} -> ${readlinkSync(path)}`);
      else {
        const mode = (stat.mode & 0o100n) === 0n ? '-' : 'x';
        const time = options.times === false ? '' : ` ${stat.mtimeNs}`;
        lines.push(`${prefix}${name} ${mode}${time} ${describeContent(readFileSync(path))}`);
      }
    }
  };
  visit(root, '');
  return lines;
}

/** The first ten bytes of each file below the folder, by path. Without those in `.dray`. */
export function readBeginnings(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  const paths = files.map(({ name, parentPath }) => `${parentPath}/${name}`.slice(root.length + 1)).sort();
  return Object.fromEntries(
    paths
      .filter((path) => !path.startsWith('.dray/'))
      .map((path) => [path, readFileSync(`${root}/${path}`).subarray(0, 10).toString()]),
  );
}

/** Short content in full, so that a difference can be read; longer content by its hash, to save memory. */
function describeContent(bytes: Buffer): string {
  if (bytes.length <= 4096) return bytes.toString('base64');
  return `${bytes.length} bytes, ${createHash('sha256').update(bytes).digest('hex')}`;
}
