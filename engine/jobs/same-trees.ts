/** For tests: whether two folders hold the same, byte by byte, with kinds, modes, link targets and mtimes in ns. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One line for each thing below the folder: what two equal trees agree on. */
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
        lines.push(`${prefix}${name} ${mode}${time} ${readFileSync(path).toString('base64')}`);
      }
    }
  };
  visit(root, '');
  return lines;
}
