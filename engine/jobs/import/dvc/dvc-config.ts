/** `.dvc/config` and `.dvc/config.local`: configobj's form of INI, as much of it as DVC writes. */

type Section = ReadonlyMap<string, string>;

/** Sections by their names: `core`, `cache`, `remote "name"`. A later file wins. */
export type DvcConfig = ReadonlyMap<string, Section>;

const LINE_OF_SECTION = /^\[(?<quote>['"]?)(?<name>.*)\k<quote>\]\s*(?:#.*)?$/;
const LINE_OF_VALUE = /^(?<key>[^=]+?)\s*=\s*(?<value>.*)$/;

export function parseDvcConfig(...texts: readonly string[]): DvcConfig {
  const sections = new Map<string, Map<string, string>>();
  for (const text of texts) {
    let section = new Map<string, string>();
    for (const raw of text.split(/\r?\n/)) {
      const line = raw.trim();
      if (line === '' || line.startsWith('#')) continue;
      const name = LINE_OF_SECTION.exec(line)?.groups?.name;
      if (name !== undefined) {
        const key = name.trim().toLowerCase().startsWith('remote') ? name.trim() : name.trim().toLowerCase();
        section = sections.get(key) ?? new Map();
        sections.set(key, section);
        continue;
      }
      const { key, value } = LINE_OF_VALUE.exec(line)?.groups ?? {};
      if (key !== undefined) section.set(key.trim().toLowerCase(), unquote(value ?? ''));
    }
  }
  return sections;
}

function unquote(text: string): string {
  const quoted = /^(["'])(?<inner>.*?)\1\s*(?:#.*)?$/.exec(text)?.groups?.inner;
  return quoted ?? text.replace(/\s+#.*$/, '').trim();
}

export function defaultRemoteOf(config: DvcConfig): string | undefined {
  return config.get('core')?.get('remote');
}

export function remoteOf(config: DvcConfig, name: string): Section | undefined {
  return config.get(`remote "${name}"`);
}

export function remoteNames(config: DvcConfig): readonly string[] {
  return [...config.keys()].flatMap((key) => /^remote "(.*)"$/.exec(key)?.[1] ?? []);
}
