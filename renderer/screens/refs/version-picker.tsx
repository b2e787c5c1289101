/** Chooses a commit, a branch or a tag: from the newest ones, by a few letters, or by a hash. */
import './refs.css';
import { useEffect, useId, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { ListBox } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { type Choice, ChoiceItem, Search } from '../../design/controls/field.tsx';
import { formatAgo } from '../../design/format.ts';
import { Icon, type IconName } from '../../design/icon.tsx';
import { Loading } from '../../design/states.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { subjectOf } from '../history/commit-words.ts';
import { versionName } from './ref-task.ts';

const SHOWN_MAX = 100;
/** The same number as in History's first request, so both share one cached answer. */
export const COMMITS_ASKED = 200;

export interface VersionPickerProps {
  readonly root: string;
  readonly label: string;
  /** A commit, branch or tag; `@` for the commit of the workspace. */
  readonly value: string;
  readonly onChange: (version: string) => void;
}

export function VersionPicker({ root, label, value, onChange }: VersionPickerProps) {
  const labelId = useId();
  const valueId = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="field version-picker">
      <span id={labelId} className="field-label">
        {label}
      </span>
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <AriaButton className="button button-plain select-button" aria-labelledby={`${labelId} ${valueId}`}>
          <span id={valueId} className="select-value cut">
            {versionName(value)}
          </span>
          <Icon name="chevronDown" size={12} />
        </AriaButton>
        <Popover className="popover version-popover" aria-label={label} offset={4}>
          <Versions
            root={root}
            label={label}
            value={value}
            onPick={(version) => {
              onChange(version);
              setOpen(false);
            }}
          />
        </Popover>
      </DialogTrigger>
    </div>
  );
}

interface VersionsProps extends Pick<VersionPickerProps, 'root' | 'label' | 'value'> {
  readonly onPick: (version: string) => void;
}

function Versions({ root, label, value, onPick }: VersionsProps) {
  const [typed, setTyped] = useState('');
  const history = useAsk('history.list', { root, limit: COMMITS_ASKED }, { freshMs: 5_000 });
  const all = history.data ? versionsOf(history.data.refs, history.data.commits) : [];
  const wanted = typed.trim().toLowerCase();
  const found = all.filter(({ label: text, note }) => `${text} ${note}`.toLowerCase().includes(wanted));
  const shown = found.length > 0 || wanted === '' ? found.slice(0, SHOWN_MAX) : [typedVersion(typed.trim())];
  const first = wanted === '' ? undefined : shown[0]?.id;
  // Only the list shows whether a typed text is a subject or a name.
  const [isAwaited, setAwaited] = useState(false);
  useEffect(() => {
    if (isAwaited && history.data && first !== undefined) onPick(first);
  }, [isAwaited, history.data, first, onPick]);
  return (
    <>
      <form
        className="version-search"
        onSubmit={(event) => {
          event.preventDefault();
          // React also passes it to a form that contains this picker.
          event.stopPropagation();
          if (first === undefined) return;
          if (history.isPending) setAwaited(true);
          else onPick(first);
        }}
      >
        <Search
          label="Find a branch, a tag or a commit"
          value={typed}
          onChange={(next) => {
            setTyped(next);
            setAwaited(false);
          }}
          autoFocus
        />
      </form>
      {history.isPending && <Loading label="Reading branches, tags and commits" />}
      {history.error && <ErrorNotice error={history.error} onMended={() => void history.refetch()} />}
      <ListBox
        className="menu version-list"
        aria-label={`Choices for ${label}`}
        items={shown}
        selectionMode="single"
        selectedKeys={[value]}
        // A press on the selected version gives an empty set.
        onSelectionChange={(keys) => onPick(keys === 'all' ? value : String([...keys][0] ?? value))}
      >
        {(version) => <ChoiceItem {...version} />}
      </ListBox>
      {found.length > SHOWN_MAX && <p className="version-more">Type to find the others.</p>}
    </>
  );
}

interface Version extends Choice<string> {
  readonly note: string;
  readonly icon: IconName;
}

function versionsOf(refs: readonly RefRow[], commits: readonly CommitEvent[]): readonly Version[] {
  const all: readonly Version[] = [
    { id: '@', label: 'The commit of this folder', note: 'The last push or pull here', icon: 'folder' },
    ...refs.map(({ commit, isCurrent, kind, name }) => ({
      id: name,
      label: name,
      note: `${kind === 'branch' ? 'Branch' : 'Tag'} at ${formatHash(commit)}${isCurrent ? ', checked out here' : ''}`,
      icon: kind,
    })),
    ...commits.map((commit) => ({
      id: commit.commit,
      label: subjectOf(commit),
      note: `${formatHash(commit.commit)}, ${formatAgo(commit.time)}${commit.isForgotten ? ', forgotten' : ''}`,
      icon: 'history' as const,
    })),
  ];
  // A branch hides a tag of the same name, as it does for the engine.
  return [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed();
}

/** A version that is not in the list, which has only the newest commits. */
function typedVersion(typed: string): Version {
  return { id: typed, label: typed, note: 'Use this name or hash as it is', icon: 'search' };
}
