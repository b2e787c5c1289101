/**
 * Reads what DVC tracks from `*.dvc`, `dvc.yaml` and `dvc.lock`. `dvc.lock` has the hashes of a pipeline's
 * outputs, `dvc.yaml` says which outputs there are and how they are kept.
 */
import { posix } from 'node:path';
import * as v from 'valibot';
import { DrayError, type ErrorCode, quotedExcerpt } from '../../../api/error.ts';

/** `md5-dos2unix`: of DVC before 3.0, which hashes text as if each CRLF were an LF. */
export type DvcHashKind = 'md5' | 'md5-dos2unix';

export interface DvcOutput {
  /** From the root of the project. */
  readonly path: string;
  /** The file that names it. */
  readonly from: string;
  readonly hashKind: DvcHashKind;
  /** 32 hexadecimal digits; ends in `.dir` for a folder. Absent: see `problem` and `files`. */
  readonly md5?: string;
  readonly executable: boolean;
  /** Its own remote. */
  readonly remote?: string;
  /** The remote does not have it (`push: false`, or imported from another repository). */
  readonly notPushed?: string;
  /** Of a remote with cloud versioning, which has the files under their own names. */
  readonly files?: readonly DvcCloudFile[];
  /** Why it cannot be imported. */
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
}

export interface DvcCloudFile {
  /** From the root of the project. */
  readonly path: string;
  readonly md5?: string;
  readonly etag?: string;
  readonly versionId?: string;
  readonly remote?: string;
}

const cloudSchema = v.record(
  v.string(),
  v.object({ etag: v.optional(v.string()), version_id: v.nullish(v.string()) }),
);
const outSchema = v.object({
  path: v.string(),
  md5: v.optional(v.string()),
  hash: v.optional(v.string()),
  isexec: v.optional(v.boolean()),
  cache: v.optional(v.boolean()),
  push: v.optional(v.boolean()),
  remote: v.nullish(v.string()),
  cloud: v.optional(cloudSchema),
  version_id: v.nullish(v.string()),
  etag: v.optional(v.string()),
  files: v.optional(
    v.array(
      v.object({
        relpath: v.string(),
        md5: v.optional(v.string()),
        cloud: v.optional(cloudSchema),
        version_id: v.nullish(v.string()),
        etag: v.optional(v.string()),
        remote: v.nullish(v.string()),
      }),
    ),
  ),
});
type StoredOut = v.InferOutput<typeof outSchema>;
const dependencySchema = v.object({ repo: v.optional(v.object({ url: v.string() })) });
const dvcFileSchema = v.object({
  wdir: v.optional(v.string()),
  outs: v.optional(v.array(outSchema), []),
  deps: v.optional(v.array(dependencySchema), []),
});
const lockStageSchema = v.object({ outs: v.optional(v.array(outSchema), []) });
const lockSchema = v.object({ stages: v.optional(v.record(v.string(), lockStageSchema), {}) });
/** The first form of `dvc.lock`, of DVC 1. */
const oldLockSchema = v.record(v.string(), lockStageSchema);
const flagsSchema = v.object({
  cache: v.optional(v.boolean()),
  push: v.optional(v.boolean()),
  remote: v.nullish(v.string()),
});
const yamlOutsSchema = v.optional(
  v.array(v.union([v.string(), v.record(v.string(), v.nullable(flagsSchema))])),
  [],
);
const stageSchema = v.object({
  wdir: v.optional(v.string()),
  outs: yamlOutsSchema,
  metrics: yamlOutsSchema,
  plots: yamlOutsSchema,
});
const yamlSchema = v.object({ stages: v.optional(v.record(v.string(), v.unknown()), {}) });
const repeatedSchema = v.object({ do: v.optional(v.unknown()), matrix: v.optional(v.unknown()) });

/** The outputs of a `*.dvc` file. @throws `damaged` */
export function readDvcFile(path: string, text: string): readonly DvcOutput[] {
  const { deps, outs, wdir = '.' } = parse(path, text, dvcFileSchema);
  const importedFrom = deps.find(({ repo }) => repo)?.repo?.url;
  return outs
    .filter(({ cache = true }) => cache)
    .map((out) => toOutput(path, wdir, out, importedFrom === undefined ? {} : { importedFrom }));
}

/**
 * The outputs of a `dvc.lock`.
 * @param isTracked Whether git tracks a path, which is then no data of DVC's
 * @throws `damaged`
 */
export function readDvcLock(
  path: string,
  text: string,
  yaml: string,
  isTracked: (path: string) => boolean,
): readonly DvcOutput[] {
  const lock = parse(path, text, v.looseObject({}));
  const locked = 'stages' in lock || 'schema' in lock ? check(path, lockSchema, lock).stages : undefined;
  const stages = locked ?? check(path, oldLockSchema, lock);
  const yamlPath = posix.join(posix.dirname(path), 'dvc.yaml');
  const declared = parse(yamlPath, yaml, yamlSchema).stages;
  const outputs: DvcOutput[] = [];
  for (const [name, { outs }] of Object.entries(stages)) {
    const stage = stageOf(yamlPath, declared, name);
    if (!stage) continue;
    const flags = flagsOf(stage);
    for (const out of outs) {
      const found = flags.find(({ matches }) => matches(out.path));
      if (!found || found.cache === false) continue;
      const { cache: _, matches: __, ...kept } = found;
      const output = toOutput(path, stage.wdir ?? '.', { ...out, ...kept }, {});
      if (!isTracked(output.path)) outputs.push(output);
    }
  }
  return outputs;
}

type Stage = v.InferOutput<typeof stageSchema>;

/** A stage by its name in the lock, which is NAME@KEY for one of several made from a template. */
function stageOf(path: string, declared: Record<string, unknown>, name: string): Stage | undefined {
  const own = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (own !== undefined) return check(path, stageSchema, own);
  const base = name.slice(0, Math.max(0, name.indexOf('@')));
  const repeated = Object.hasOwn(declared, base) ? check(path, repeatedSchema, declared[base]) : undefined;
  if (!repeated) return undefined;
  return check(path, stageSchema, repeated.do ?? declared[base]);
}

function flagsOf({ metrics, outs, plots }: Stage) {
  return [...outs, ...metrics, ...plots].flatMap((out) => {
    if (typeof out === 'string') return [{ matches: matcherOf(out) }];
    return Object.entries(out).map(([path, flags]) => ({ matches: matcherOf(path), ...flags }));
  });
}

/** `${...}` stands for any text: Dray does not fill in templates. In linear time, as no RegExp would be. */
function matcherOf(pattern: string): (path: string) => boolean {
  const [first = '', ...rest] = trimmed(pattern).split(/\$\{[^}]*\}/);
  const last = rest.pop();
  return (given) => {
    const path = trimmed(given);
    if (last === undefined) return path === first;
    if (!path.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = path.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return path.length - last.length >= at && path.endsWith(last);
  };
}

function trimmed(path: string): string {
  return path.replace(/^\.\//, '').replace(/\/$/, '');
}

/** By the field `hash` of an output. */
const HASH_KINDS: ReadonlyMap<string | undefined, DvcHashKind> = new Map([
  [undefined, 'md5-dos2unix'],
  ['md5-dos2unix', 'md5-dos2unix'],
  ['md5', 'md5'],
]);
const MD5 = /^[0-9a-f]{32}(?:\.dir)?$/;

function toOutput(
  from: string,
  wdir: string,
  out: StoredOut,
  { importedFrom }: { readonly importedFrom?: string },
): DvcOutput {
  const inside = posix.normalize(posix.join(posix.dirname(from), wdir, out.path));
  const isOutside =
    out.path.includes('://') || posix.isAbsolute(out.path) || inside === '..' || inside.startsWith('../');
  const path = isOutside ? out.path : inside.replace(/\/$/, '');
  const { isexec = false, push = true, remote } = out;
  const hashKind = HASH_KINDS.get(out.hash);
  const facts = {
    path,
    from,
    hashKind: hashKind ?? 'md5',
    executable: isexec,
    ...(remote ? { remote } : {}),
    ...(importedFrom === undefined
      ? push
        ? {}
        : { notPushed: 'it has "push: false"' }
      : { notPushed: `it was imported from ${importedFrom}` }),
  } as const;
  const unsupported = (why: string): DvcOutput => {
    const problem = { code: 'unsupported', message: `${path}: ${why}.` } as const;
    return { ...facts, problem };
  };
  if (wdir.includes('${')) return unsupported('the folder of its stage (wdir) is a template');
  if (isOutside) return unsupported('it lies outside of the project');
  if (hashKind === undefined) return unsupported(`it has a hash of the kind ${quotedExcerpt(out.hash)}`);
  const files = cloudFilesOf(path, out);
  const isValid = [out, ...(files ?? [])].every(({ md5 }) => md5 === undefined || MD5.test(md5));
  if (!isValid) return unsupported(`${from} has no valid MD5 of it`);
  if (files) return { ...facts, files };
  if (out.md5 === undefined) return unsupported(`${from} has no MD5 of it`);
  return { ...facts, md5: out.md5 };
}

function cloudFilesOf(path: string, out: StoredOut): readonly DvcCloudFile[] | undefined {
  const all = out.files?.map((file) => ({ ...file, path: posix.join(path, posix.normalize(file.relpath)) }));
  const own = { ...out, path, remote: out.remote };
  const files = all ?? (out.cloud || out.version_id ? [own] : undefined);
  // Files with MD5s alone are a folder whose list DVC has put in place of a `.dir` object.
  return files?.map(({ cloud, etag, md5, path: filePath, remote, version_id }) => {
    const [name, version] = Object.entries(cloud ?? {})[0] ?? [];
    const found = { etag: version?.etag ?? etag, versionId: version?.version_id ?? version_id };
    return {
      path: filePath,
      ...(md5 === undefined ? {} : { md5 }),
      ...(found.etag === undefined ? {} : { etag: found.etag }),
      ...(found.versionId ? { versionId: found.versionId } : {}),
      ...((name ?? remote) ? { remote: (name ?? remote)! } : {}),
    };
  });
}

let yaml: typeof import('js-yaml') | undefined;

/** Call once before outputs are read. Loaded on demand, because only this import needs it. */
export async function loadYaml(): Promise<void> {
  yaml ??= await import('js-yaml');
}

function parse<const Schema extends v.GenericSchema>(
  path: string,
  text: string,
  schema: Schema,
): v.InferOutput<Schema> {
  let document: unknown;
  try {
    document = yaml!.load(text) ?? {};
  } catch (cause) {
    throw unreadable(path, (cause as Error).message.split('\n', 1)[0] ?? '', cause);
  }
  return check(path, schema, document);
}

function check<const Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
  document: unknown,
): v.InferOutput<Schema> {
  const checked = v.safeParse(schema, document, { abortEarly: true });
  if (checked.success) return checked.output;
  throw unreadable(path, `${v.getDotPath(checked.issues[0]) ?? 'it'}: ${checked.issues[0].message}`);
}

function unreadable(path: string, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${path} is not a file of DVC's that Dray can read: ${why}.`, {
    data: { path },
    cause,
  });
}
