/** The schema of each request's input, checked on arrival. Bounds limit the cost of one message. */
import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { CHOICE_PATHS_MAX } from '../../api/host/changes.ts';
import { BYTES_AT_ONCE_MAX } from '../../api/host/file-preview.ts';
import { COLUMN_IDS, COLUMN_PX_MAX, COLUMN_PX_MIN, COLUMN_TABLES } from '../../api/host/settings.ts';
import type { HostRequestName, InputOf } from '../../api/host.ts';
import { LABEL_CHARS_MAX } from '../../api/jobs/repositories.ts';

import { FLEET_INPUTS } from './fleet-inputs.ts';

const TEXT_MAX = 32_768;
const PATHS_MAX = CHOICE_PATHS_MAX;
const OPEN_FOLDERS_MAX = 10_000;
const ROWS_MAX = 500;
const CHOSEN_MAX = 10_000;
const COMMITS_MAX = 10_000;
/** A walk of `COMMITS_MAX` commits, with all parents of the last one. */
const WALK_STARTS_MAX = 10_016;
/** More than a queue can hold, waiting and ended together. */
const TRANSFERS_MAX = 2_000;
/** The triggers of one saved job. */
const TRIGGERS_MAX = 20;

const text = v.pipe(v.string(), v.maxLength(TEXT_MAX));
const filled = v.pipe(text, v.minLength(1));
/** Refuses a NUL character, at which system calls would truncate the path. */
const place = v.pipe(
  filled,
  v.check((value) => !value.includes('\0'), 'it contains a character that no path can have'),
);
const root = v.pipe(place, v.check(isAbsolute, 'it must be an absolute path'));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const upTo = (max: number) => v.pipe(whole, v.minValue(1), v.maxValue(max));
const paths = v.pipe(v.array(place), v.maxLength(PATHS_MAX));
const nothing = v.strictObject({});
const direction = v.picklist(['push', 'pull']);
const hour = v.pipe(v.string(), v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'it must be a time such as 07:30'));

const HASH = /^[0-9a-f]{64}$/;
const commitHash = v.pipe(v.string(), v.regex(HASH, 'it must be the hash of a commit'));

/** The SHA-256 of a certificate in Node's notation. */
const fingerprint = v.pipe(
  v.string(),
  v.regex(/^[0-9A-F]{2}(:[0-9A-F]{2}){31}$/, 'it must be a SHA-256 fingerprint'),
);

const notices = v.strictObject({
  on: v.exactOptional(v.pipe(v.array(v.picklist(['failure', 'recovery'])), v.maxLength(2))),
  days: v.exactOptional(upTo(3_650)),
  desktop: v.exactOptional(v.boolean()),
  command: v.exactOptional(place),
  webhook: v.exactOptional(place),
  webhookUrlFile: v.exactOptional(root),
  webhookKeyFile: v.exactOptional(root),
  mailTo: v.exactOptional(v.pipe(v.array(filled), v.maxLength(50))),
  mailFrom: v.exactOptional(filled),
  mailServer: v.exactOptional(filled),
  mailUser: v.exactOptional(filled),
  mailPasswordFile: v.exactOptional(root),
  mailPasswordCommand: v.exactOptional(place),
});
const ofJob = v.strictObject({ name: v.pipe(filled, v.maxLength(63)) });

const inWorkspace = { root };
const namedRef = { root, kind: v.picklist(['branch', 'tag']), name: filled };

export const change = v.picklist(['added', 'modified', 'deleted', 'renamed', 'mode', 'time', 'conflict']);
const sort = v.picklist(['path', 'size']);
export const winner = v.picklist(['theirs', 'ours', 'both']);
/** The view settings of a list of changes. */
export const changesLook = v.strictObject({
  filter: text,
  kinds: v.pipe(v.array(change), v.maxLength(7)),
  sort,
  isTree: v.boolean(),
  open: v.pipe(v.array(text), v.maxLength(OPEN_FOLDERS_MAX)),
});
export const pane = v.strictObject({
  root: place,
  folder: text,
  column: v.picklist(['name', 'size', 'time']),
  isDescending: v.boolean(),
});

const view = v.strictObject({
  filter: v.exactOptional(text),
  kinds: v.exactOptional(v.array(change)),
  sort: v.exactOptional(sort),
  open: v.exactOptional(v.pipe(v.array(text), v.maxLength(PATHS_MAX))),
});

/** The names of repositories that the user typed. */
const confirmed = v.exactOptional(v.pipe(v.array(filled), v.maxLength(100)));
const entryView = v.strictObject({
  filter: v.exactOptional(text),
  sort: v.exactOptional(v.picklist(['name', 'size', 'time'])),
  isDescending: v.exactOptional(v.boolean()),
});
const chosenPaths = v.pipe(v.array(place), v.maxLength(CHOSEN_MAX));
const allChosen = v.strictObject({ list: filled, filter: text, except: chosenPaths });

/** The patterns of a part (`model/scope.ts`). */
const ONLY_MAX = 1_000;
const only = v.pipe(v.array(filled), v.maxLength(ONLY_MAX));

const mergeKind = v.picklist(['merge', 'revert']);
/** Counts from 1. */
const parent = v.pipe(whole, v.minValue(1));
const merged = {
  root,
  ref: filled,
  conflicts: v.exactOptional(winner),
  decisions: v.exactOptional(v.record(place, winner)),
};

const order = v.variant('kind', [
  v.strictObject({
    kind: v.literal('clone'),
    url: place,
    root,
    ref: v.exactOptional(filled),
    only: v.exactOptional(only),
  }),
  v.strictObject({ kind: v.literal('scope'), root, only: v.nullable(v.pipe(only, v.minLength(1))) }),
  v.strictObject({
    kind: v.literal('push'),
    root,
    message: v.exactOptional(text),
    skip: v.exactOptional(paths),
    allowEmptied: v.exactOptional(v.boolean()),
  }),
  v.strictObject({
    kind: v.literal('pull'),
    root,
    ref: v.exactOptional(filled),
    conflicts: v.exactOptional(v.picklist(['stop', 'theirs', 'ours', 'both'])),
    decisions: v.exactOptional(v.record(place, winner)),
  }),
  v.strictObject({
    kind: v.literal('restore'),
    root,
    paths,
    from: v.exactOptional(filled),
    keepsChanges: v.exactOptional(v.boolean()),
  }),
  v.strictObject({ kind: v.literal('switch'), root, branch: filled }),
  v.strictObject({ kind: v.literal('merge'), ...merged }),
  v.strictObject({ kind: v.literal('revert'), ...merged, parent: v.exactOptional(parent) }),
  v.strictObject({ kind: v.literal('abortMerge'), root, of: mergeKind }),
  v.strictObject({ kind: v.literal('verify'), root }),
  v.strictObject({ kind: v.literal('repair'), root }),
  v.strictObject({ kind: v.literal('gc'), root, graceSeconds: v.exactOptional(whole) }),
  v.strictObject({
    kind: v.literal('copy'),
    source: place,
    destination: place,
    names: v.exactOptional(paths),
    filter: v.exactOptional(text),
    except: v.exactOptional(chosenPaths),
    confirmed,
  }),
  v.strictObject({
    kind: v.literal('sync'),
    source: place,
    destination: place,
    maxDelete: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
    confirmed,
  }),
]);

/** Patterns of tags. */
const tags = v.exactOptional(v.pipe(v.array(v.pipe(filled, v.maxLength(1_000))), v.maxLength(100)));
const kept = v.exactOptional(upTo(1_000_000));
const policy = v.strictObject({
  ...{ keepLast: kept, keepDaily: kept, keepWeekly: kept, keepMonthly: kept },
  keepWithin: v.exactOptional(v.pipe(filled, v.maxLength(100))),
  keepTags: tags,
});

const KEY_MAX = 8_192;
const NO_LINE = 'it must be one line of text';
/** The messages of these checks never repeat the value, which is a secret. */
const secret = v.pipe(
  v.string(NO_LINE),
  v.minLength(1, NO_LINE),
  v.maxLength(KEY_MAX, 'it is too long'),
  v.check((value) => !/[\0\r\n]/.test(value), NO_LINE),
);
const keys = v.strictObject(
  { accessKeyId: secret, secretAccessKey: secret, sessionToken: v.exactOptional(secret) },
  'it must be a pair of keys',
);
/** As an error of an encrypted repository names it. */
const sealed = { id: v.pipe(v.string(), v.uuid()), check: v.pipe(v.string(), v.regex(HASH)) };
const label = v.pipe(v.string(), v.maxLength(LABEL_CHARS_MAX));
const passwordChange = v.variant('kind', [
  v.strictObject({ kind: v.literal('add'), label, newPassword: secret }),
  v.strictObject({ kind: v.literal('addRecovery'), label }),
  v.strictObject({ kind: v.literal('replace'), newPassword: secret }),
  v.strictObject({ kind: v.literal('remove'), id: v.pipe(v.string(), v.regex(/^[0-9a-f]{8,64}$/)) }),
]);
/** The value of `profile=` in a URL. */
const profile = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(256),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  v.check((value) => value !== '__proto__' && !/[\u0000-\u001f\u007f]/.test(value), NO_LINE),
);

type Inputs = { readonly [N in HostRequestName]: v.GenericSchema<unknown, InputOf<N>> };

export const HOST_INPUTS: Inputs = {
  'home.list': nothing,
  'home.look': v.strictObject({ maxAgeMs: whole, isAsked: v.exactOptional(v.boolean()) }),
  'home.addWorkspace': v.strictObject({ ...inWorkspace, isForeignListed: v.exactOptional(v.boolean()) }),
  'home.createWorkspace': v.strictObject({
    ...inWorkspace,
    remoteUrl: place,
    createsFolder: v.exactOptional(v.boolean()),
    password: v.exactOptional(secret),
  }),
  'home.checkFolder': v.strictObject({ ...inWorkspace, use: v.picklist(['workspace', 'clone']) }),
  'home.removeWorkspace': v.strictObject(inWorkspace),
  'home.trustFolder': v.strictObject({ ...inWorkspace, owner: whole }),
  'home.listFolders': v.strictObject({ folder: v.exactOptional(root) }),

  'changes.status': v.strictObject({ ...inWorkspace, remote: v.exactOptional(v.boolean()) }),
  'changes.open': v.strictObject({ ...inWorkspace, direction, using: v.exactOptional(filled) }),
  'changes.rows': v.strictObject({
    ...inWorkspace,
    list: filled,
    offset: whole,
    limit: upTo(ROWS_MAX),
    view,
  }),
  'changes.seek': v.strictObject({ ...inWorkspace, list: filled, view, path: place }),
  'changes.choices': v.strictObject({ ...inWorkspace, direction, offset: v.exactOptional(whole) }),
  'changes.choose': v.strictObject({
    ...inWorkspace,
    direction,
    list: filled,
    skip: v.exactOptional(paths),
    include: v.exactOptional(paths),
    decide: v.exactOptional(v.pipe(v.array(v.strictTuple([place, winner])), v.maxLength(PATHS_MAX))),
    forAll: v.exactOptional(winner),
  }),
  'changes.keep': v.strictObject({
    ...inWorkspace,
    direction,
    message: v.exactOptional(text),
    look: v.exactOptional(changesLook),
    seen: v.exactOptional(v.nullable(whole)),
  }),
  'changes.send': v.strictObject({
    ...inWorkspace,
    direction,
    version: whole,
    message: v.exactOptional(text),
    commit: v.exactOptional(filled),
  }),
  'changes.watch': v.strictObject(inWorkspace),
  'changes.look': v.strictObject({ ...inWorkspace, list: filled }),
  'changes.ignore': v.strictObject({ ...inWorkspace, path: place }),
  'changes.unignore': v.strictObject({ ...inWorkspace, line: filled, added: filled, isNew: v.boolean() }),
  'changes.discard': v.strictObject({ ...inWorkspace, paths: v.pipe(v.array(place), v.maxLength(ROWS_MAX)) }),
  'changes.close': v.strictObject({ ...inWorkspace, list: filled }),
  'changes.preview': v.strictObject({
    ...inWorkspace,
    path: place,
    fromPath: v.exactOptional(place),
    direction: v.exactOptional(direction),
    commit: v.exactOptional(filled),
  }),

  'kept.list': v.strictObject(inWorkspace),
  'kept.putBack': v.strictObject({ ...inWorkspace, id: filled, paths: v.exactOptional(paths) }),

  'plan.push': v.strictObject(inWorkspace),
  'plan.scope': v.strictObject({ ...inWorkspace, only: v.nullable(v.pipe(only, v.minLength(1))) }),

  'transfers.start': order,
  'transfers.watch': nothing,
  'transfers.calls': v.strictObject({ id: filled }),
  'transfers.failures': v.strictObject({ id: filled }),
  'transfers.change': v.strictObject({
    ids: v.union([v.literal('all'), v.pipe(v.array(filled), v.maxLength(TRANSFERS_MAX))]),
    action: v.picklist([
      'pause',
      'resume',
      'cancel',
      'retry',
      'pushEmptied',
      'remove',
      'putBack',
      'up',
      'down',
    ]),
  }),

  'history.list': v.strictObject({
    ...inWorkspace,
    branch: v.exactOptional(filled),
    limit: upTo(COMMITS_MAX),
  }),
  'history.compare': v.strictObject({
    ...inWorkspace,
    from: v.exactOptional(filled),
    to: filled,
    limit: upTo(COMMITS_MAX),
  }),
  'history.folders': v.strictObject({
    ...inWorkspace,
    from: v.exactOptional(filled),
    to: filled,
    folder: v.pipe(text, v.regex(/^$|\/$/, 'it must end in a slash')),
  }),
  'history.planRestore': v.strictObject({ ...inWorkspace, commit: filled, paths }),
  'history.placeRef': v.strictObject({ ...namedRef, commit: filled, at: v.exactOptional(filled) }),
  'history.renameRef': v.strictObject({ ...namedRef, to: filled, at: filled }),
  'history.removeRef': v.strictObject({ ...namedRef, at: filled }),
  'history.soleCommits': v.strictObject({ ...namedRef, to: v.exactOptional(filled) }),
  'history.planSwitch': v.strictObject({ ...inWorkspace, branch: filled }),
  'history.planMerge': v.strictObject({
    ...inWorkspace,
    ref: filled,
    kind: mergeKind,
    parent: v.exactOptional(parent),
  }),
  'history.ofPath': v.strictObject({
    ...inWorkspace,
    path: place,
    from: v.exactOptional(filled),
    after: v.exactOptional(v.pipe(v.array(commitHash), v.minLength(1), v.maxLength(WALK_STARTS_MAX))),
    limit: upTo(ROWS_MAX),
  }),
  'history.preview': v.strictObject({ ...inWorkspace, commit: filled, path: place }),
  'history.bytes': v.strictObject({
    ...inWorkspace,
    commit: commitHash,
    path: place,
    start: whole,
    limit: upTo(BYTES_AT_ONCE_MAX),
  }),

  'browse.open': v.strictObject({
    place,
    search: v.exactOptional(filled),
    resume: v.exactOptional(filled),
  }),
  'browse.rows': v.strictObject({ list: filled, view: entryView, offset: whole, limit: upTo(ROWS_MAX) }),
  'browse.seek': v.strictObject({
    list: filled,
    view: entryView,
    sought: v.union([v.strictObject({ startsWith: filled }), v.strictObject({ path: place })]),
  }),
  'browse.find': v.strictObject({ list: filled, paths: chosenPaths }),
  'browse.close': v.strictObject({ list: filled }),
  'browse.taken': v.union([
    v.strictObject({ place, names: v.pipe(v.array(place), v.maxLength(ROWS_MAX)) }),
    v.strictObject({ place, all: allChosen }),
  ]),
  'browse.preview': v.strictObject({ place }),
  'browse.bytes': v.strictObject({ place, start: whole, limit: upTo(BYTES_AT_ONCE_MAX) }),
  'browse.size': v.strictObject({ place }),
  'browse.makeFolder': v.strictObject({ place }),
  'browse.plan': v.strictObject({
    kind: v.picklist(['copy', 'sync']),
    source: place,
    destination: place,
    limit: upTo(ROWS_MAX),
  }),
  'browse.remove': v.union([
    v.strictObject({ places: v.pipe(v.array(place), v.maxLength(ROWS_MAX)), confirmed }),
    v.strictObject({ all: allChosen, confirmed }),
  ]),
  'browse.checkWrite': v.strictObject({ place, confirmed }),
  'browse.repository': v.strictObject({ place }),
  'browse.panes': nothing,
  'browse.keepPane': v.strictObject({ side: v.picklist(['left', 'right']), pane }),

  'drags.open': v.strictObject({ place }),
  'drags.next': nothing,
  'drags.prepare': v.strictObject({ place, paths: chosenPaths }),
  'drags.begin': v.strictObject({ id: filled }),
  'drags.forget': v.strictObject({ id: filled }),

  'versions.access': v.strictObject({ place }),
  'versions.secret': nothing,

  'remotes.list': nothing,
  'remotes.add': v.strictObject({ name: filled, url: place }),
  'remotes.change': v.strictObject({ name: filled, to: v.strictObject({ name: filled, url: place }) }),
  'remotes.remove': v.strictObject({ name: filled }),
  'remotes.test': v.strictObject({
    target: place,
    keys: v.exactOptional(keys),
    token: v.exactOptional(filled),
  }),
  'remotes.keySources': nothing,
  'remotes.importable': nothing,
  'remotes.usage': nothing,

  'keys.list': nothing,
  'keys.hold': v.strictObject({ profile, keys: v.exactOptional(keys) }),

  'saved.watch': nothing,
  'saved.save': v.strictObject({
    version: v.exactOptional(v.pipe(filled, v.maxLength(64))),
    notices: v.exactOptional(v.nullable(notices)),
    from: v.exactOptional(v.pipe(filled, v.maxLength(63))),
    name: v.pipe(filled, v.maxLength(63)),
    words: v.pipe(v.array(place), v.minLength(1), v.maxLength(1_000)),
    directory: v.exactOptional(root),
    every: v.exactOptional(v.pipe(place, v.maxLength(20))),
    daily: v.exactOptional(v.pipe(place, v.maxLength(20))),
    cron: v.exactOptional(v.pipe(v.array(v.pipe(place, v.maxLength(200))), v.maxLength(TRIGGERS_MAX))),
    onChange: v.exactOptional(v.boolean()),
    settle: v.exactOptional(v.pipe(place, v.maxLength(20))),
    onMount: v.exactOptional(v.pipe(v.array(root), v.maxLength(TRIGGERS_MAX))),
    atLogin: v.exactOptional(v.boolean()),
  }),
  'saved.testNotice': v.strictObject({ ...ofJob.entries, notices }),
  'saved.run': ofJob,
  'saved.stop': ofJob,
  'saved.pause': v.strictObject({ ...ofJob.entries, isPaused: v.boolean() }),
  'saved.remove': ofJob,
  'saved.log': v.strictObject({ ...ofJob.entries, lines: upTo(1_000) }),

  'repositories.list': nothing,
  'repositories.look': v.strictObject({
    ids: v.exactOptional(v.pipe(v.array(filled), v.maxLength(ROWS_MAX))),
    commits: v.exactOptional(v.pipe(whole, v.maxValue(COMMITS_MAX))),
  }),
  'repositories.measure': v.strictObject({ id: filled }),
  'repositories.garbage': v.strictObject({ id: filled }),
  'repositories.policy': v.strictObject(inWorkspace),
  'repositories.planUpgrade': v.strictObject(inWorkspace),
  'repositories.upgrade': v.strictObject(inWorkspace),
  'repositories.planRepair': v.strictObject(inWorkspace),
  'repositories.planForget': v.strictObject({ ...inWorkspace, policy, tags, limit: upTo(COMMITS_MAX) }),
  'repositories.forget': v.strictObject({ ...inWorkspace, policy, tags, save: v.boolean(), expected: whole }),

  'passwords.list': nothing,
  'passwords.unlock': v.strictObject({ ...sealed, password: secret }),
  'passwords.lock': v.strictObject(sealed),
  'passwords.keys': v.strictObject(inWorkspace),
  'passwords.change': v.strictObject({ ...inWorkspace, password: secret, change: passwordChange }),

  'peers.list': nothing,
  'peers.login': v.strictObject({ peer: filled, token: filled }),
  'peers.logout': v.strictObject({ peer: filled }),
  'peers.trust': v.strictObject({ address: filled, fingerprint }),

  ...FLEET_INPUTS,

  'settings.get': nothing,
  'settings.keepColumns': v.strictObject({
    table: v.picklist(COLUMN_TABLES),
    columns: v.pipe(
      v.array(
        v.strictObject({
          id: v.picklist(COLUMN_IDS),
          widthPx: v.exactOptional(v.pipe(whole, v.minValue(COLUMN_PX_MIN), v.maxValue(COLUMN_PX_MAX))),
          isHidden: v.exactOptional(v.literal(true)),
        }),
      ),
      v.maxLength(COLUMN_IDS.length),
    ),
  }),
  'settings.set': v.strictObject({
    theme: v.exactOptional(v.picklist(['system', 'light', 'dark'])),
    density: v.exactOptional(v.picklist(['comfortable', 'compact'])),
    bandwidth: v.exactOptional(
      v.strictObject({
        limit: v.nullable(v.pipe(v.number(), v.minValue(1024))),
        from: v.exactOptional(hour),
        to: v.exactOptional(hour),
      }),
    ),
    transfers: v.exactOptional(v.nullable(upTo(9999))),
    notifications: v.exactOptional(v.boolean()),
    looksForIncoming: v.exactOptional(v.boolean()),
  }),
};
