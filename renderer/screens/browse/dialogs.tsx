/** The dialogs of Browse: a folder's name, a confirmed deletion, and the preview of one file. */

import './browse.css';
import { useState } from 'react';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Field } from '../../design/controls/field.tsx';
import { ConfirmDialog, Dialog, FormDialog } from '../../design/overlays/dialog.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { FilePreviewView, PREVIEW_HELD_MS } from '../preview/file-preview.tsx';
import type { ChosenEntries } from './entries/choice.ts';
import { describeLocation, isTypable, type Location, nameOf, placeOf, refuseFolderName } from './places.ts';

const NAMED_MAX = 8;

interface DialogProps {
  readonly location: Location;
  readonly onClose: () => void;
}

export function QuickLook({ location, entry, onClose }: DialogProps & { readonly entry: EntryRow }) {
  const preview = useAsk(
    'browse.preview',
    { place: placeOf(location, entry.path) },
    { heldMs: PREVIEW_HELD_MS },
  );
  const name = nameOf(entry.path);
  return (
    <Dialog title={name} isOpen onClose={onClose} size="large">
      <AnswerState of={preview} label="Reading the file" title="Cannot show the file" />
      {preview.data && <FilePreviewView preview={preview.data} name={name} />}
    </Dialog>
  );
}

export function NewFolderDialog({ location, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const [isTried, setTried] = useState(false);
  const make = useDo('browse.makeFolder', { refreshes: ['browse.open'] });
  const refusal = refuseFolderName(name);
  const submit = (): void => {
    setTried(true);
    if (refusal === undefined) make.mutate({ place: placeOf(location, `${name}/`) }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="New folder"
      onClose={onClose}
      size="small"
      action="Make folder"
      onSubmit={submit}
      isPending={make.isPending}
    >
      <Field
        label="Name"
        value={name}
        onChange={setName}
        autoFocus
        error={isTried || name.includes('/') ? refusal : undefined}
        help={`In ${describeLocation(location)}`}
      />
      {make.error && <ErrorNotice error={make.error} onMended={submit} />}
    </FormDialog>
  );
}

export interface Replacing {
  /** Each question has its own dialog, so that a key meant for the first does not answer the next. */
  readonly id: number;
  /** The first of the names that already exist. */
  readonly names: readonly string[];
  readonly total: number;
  readonly into: Location;
  readonly act: () => void;
}

export function ReplaceDialog({
  names,
  total,
  into,
  act,
  onClose,
}: Omit<Replacing, 'id'> & Pick<DialogProps, 'onClose'>) {
  const [first = ''] = names;
  return (
    <ConfirmDialog
      title={total === 1 ? `${first} already exists` : `${formatCount(total)} of them already exist`}
      isOpen
      onClose={onClose}
      action="Copy and replace"
      onConfirm={act}
    >
      <div className="stack">
        <p>
          In <strong>{describeLocation(into)}</strong>, files that differ are replaced. Other files in folders
          there stay.
        </p>
        {total > 1 && <NameList names={names} total={total} />}
      </div>
    </ConfirmDialog>
  );
}

/**
 * The user types the name, or the word "delete" for several entries and for names that cannot be typed. A
 * slip deletes nothing.
 */
export function DeleteDialog({
  location,
  chosen,
  onClose,
  onConfirm,
}: DialogProps & { readonly chosen: ChosenEntries; readonly onConfirm: () => void }) {
  const { all, bytes, count, rows } = chosen;
  const isFolderAmong = all !== undefined || rows.some(({ kind }) => kind === 'folder');
  const [only] = rows;
  const isOne = count === 1 && only !== undefined;
  return (
    <ConfirmDialog
      title={isOne ? `Delete ${nameOf(only.path)}` : `Delete ${formatPlural(count, 'entry', 'entries')}`}
      isOpen
      onClose={onClose}
      action="Delete"
      isDanger
      typed={isOne && isTypable(nameOf(only.path)) ? nameOf(only.path) : 'delete'}
      onConfirm={onConfirm}
    >
      <div className="stack">
        <p>
          From <strong>{describeLocation(location)}</strong>. This cannot be undone here
          {isFolderAmong && ', and folders are deleted with everything below them'}.
          {all && ` The files among them have ${formatBytes(bytes)}.`}
        </p>
        <ul className="name-list">
          {rows.slice(0, NAMED_MAX).map((entry) => (
            <li key={entry.path} className="row">
              <span className="cut grow">{entry.path}</span>
              <span className="small faint">
                {entry.kind === 'folder' ? (
                  <FolderWords place={placeOf(location, entry.path)} />
                ) : (
                  formatBytes(entry.sizeBytes)
                )}
              </span>
            </li>
          ))}
        </ul>
        <MoreWords count={count - Math.min(rows.length, NAMED_MAX)} />
      </div>
    </ConfirmDialog>
  );
}

function MoreWords({ count }: { readonly count: number }) {
  return count > 0 ? <p className="faint">and {formatCount(count)} more</p> : null;
}

function NameList({ names, total }: Pick<Replacing, 'names' | 'total'>) {
  return (
    <>
      <ul className="name-list">
        {names.slice(0, NAMED_MAX).map((name) => (
          <li key={name} className="cut">
            {name}
          </li>
        ))}
      </ul>
      <MoreWords count={total - Math.min(names.length, NAMED_MAX)} />
    </>
  );
}

function FolderWords({ place }: { readonly place: string }) {
  const size = useAsk('browse.size', { place }, { freshMs: 30_000 });
  if (size.error) return 'size unknown';
  if (!size.data) return 'counting';
  return `${formatPlural(size.data.files, 'file')}, ${formatBytes(size.data.bytes)}`;
}
